# From chapter 29 on: hashes of passwords, by crypt_r(3). Linux and FreeBSD have it in libcrypt; macOS
# has none. AUTO: if it is there. ON: it is an error if it is not. OFF: not even if it is.
set(TURTLE_CRYPT AUTO CACHE STRING "Build with crypt_r(3): AUTO, ON, OFF")
set_property(CACHE TURTLE_CRYPT PROPERTY STRINGS AUTO ON OFF)

set(TURTLE_HAS_CRYPT OFF)
if(TURTLE_CRYPT STREQUAL "AUTO" OR TURTLE_CRYPT)
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_LIBRARIES crypt)
  check_cxx_source_compiles("#if __has_include(<crypt.h>)
#include <crypt.h>
#endif
#include <unistd.h>
int main() { crypt_data memory{}; return crypt_r(\"\", \"\", &memory) != nullptr; }" TURTLE_FOUND_CRYPT)
  unset(CMAKE_REQUIRED_LIBRARIES)
  set(TURTLE_HAS_CRYPT ${TURTLE_FOUND_CRYPT})
endif()

if(TURTLE_HAS_CRYPT)
  target_link_libraries(turtle_library PRIVATE crypt)
elseif(TURTLE_CRYPT STREQUAL "AUTO" OR NOT TURTLE_CRYPT)
  message(STATUS "crypt_r(3): built without, sites can't have passwords")
  set_source_files_properties(
    "${PROJECT_SOURCE_DIR}/src/sites/sys/password_hash_crypt.cpp"
    "${PROJECT_SOURCE_DIR}/src/sites/sys/password_hash_none.cpp"
    PROPERTIES COMPILE_DEFINITIONS TURTLE_WITHOUT_CRYPT)
else()
  message(FATAL_ERROR "TURTLE_CRYPT is ON, but this system has no libcrypt with crypt_r(3)")
endif()
