# Language, warnings, sanitizers and the compiler cache.
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# A chapter is built to be read, stepped through and rebuilt; the finished system to be fast.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  if(TURTLE_CHAPTER EQUAL 99)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo, MinSizeRel" FORCE)
  else()
    set(CMAKE_BUILD_TYPE Debug CACHE STRING "Debug, Release, RelWithDebInfo, MinSizeRel" FORCE)
  endif()
endif()

option(TURTLE_WARNINGS_AS_ERRORS "Stop at the first warning" OFF)
set(TURTLE_SANITIZE "" CACHE STRING "Sanitizers: address;undefined or thread")

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wold-style-cast
                    -Wmissing-field-initializers)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_compile_options(-Wthread-safety)  # what src/base/mutex.h declares
endif()
if(TURTLE_WARNINGS_AS_ERRORS)
  add_compile_options(-Werror)
endif()

if(TURTLE_SANITIZE)
  list(JOIN TURTLE_SANITIZE "," sanitizers)
  add_compile_options(-fsanitize=${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${sanitizers})
  if("undefined" IN_LIST TURTLE_SANITIZE)
    # To look at an object's type this check opens a pipe: in a test that runs out of descriptors
    # on purpose, it takes every object for a wrong one.
    add_compile_options(-fno-sanitize=vptr)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # The checks that a sanitizer inserts make this warning see ghosts, in <regex> for one.
    add_compile_options(-Wno-maybe-uninitialized)
  endif()
endif()

# Coverage for the fuzzers in all of the library, and the sanitizers that see what they break.
option(TURTLE_FUZZ "Build the fuzz targets of the finished system, with clang" OFF)
if(TURTLE_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "TURTLE_FUZZ needs clang: -DCMAKE_CXX_COMPILER=clang++")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
                      -fno-sanitize=vptr -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()

# ccache shares objects between the builds of all chapters: paths relative to the build folder
# are the same in each of them. The absolute paths in messages stay as they are. With a precompiled
# header (cmake/precompile.cmake) it works only for sources that do without __TIME__ and its kin, as ours do.
find_program(TURTLE_CCACHE ccache)
find_program(TURTLE_ENV env)
mark_as_advanced(TURTLE_CCACHE TURTLE_ENV)
if(TURTLE_CCACHE AND TURTLE_ENV AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  if(PROJECT_IS_TOP_LEVEL)
    get_filename_component(base "${PROJECT_SOURCE_DIR}/.." ABSOLUTE)
  else()
    set(base "${CMAKE_BINARY_DIR}")
  endif()
  set(CMAKE_CXX_COMPILER_LAUNCHER "${TURTLE_ENV}" CCACHE_BASEDIR=${base} CCACHE_NOHASHDIR=1
      CCACHE_ABSSTDERR=1 CCACHE_SLOPPINESS=pch_defines,time_macros "${TURTLE_CCACHE}")
endif()
