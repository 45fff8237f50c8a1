# Targets, from the files that are there: a library, examples, tests, the program `turtle`.
find_package(Threads REQUIRED)
file(GLOB_RECURSE library_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/*.cpp")
file(GLOB app_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/app/*.cpp")
file(GLOB examples CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/*.cpp")
file(GLOB cgi_programs CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/cgi-bin/*.cpp")
file(GLOB_RECURSE example_files CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
     "${PROJECT_SOURCE_DIR}/examples/*")
file(GLOB_RECURSE tests CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
     "${PROJECT_SOURCE_DIR}/tests/*_test.cpp")
if(app_sources)
  list(REMOVE_ITEM library_sources ${app_sources})
endif()

# --- the library --------------------------------------------------------------------------------
if(library_sources)
  add_library(turtle_library STATIC ${library_sources})
  target_link_libraries(turtle_library PUBLIC Threads::Threads)
  set(scope PUBLIC)
else()
  add_library(turtle_library INTERFACE)  # headers only
  target_link_libraries(turtle_library INTERFACE Threads::Threads)
  set(scope INTERFACE)
endif()
add_library(turtle::turtle ALIAS turtle_library)
set_target_properties(turtle_library PROPERTIES OUTPUT_NAME turtle EXPORT_NAME turtle)
target_compile_features(turtle_library ${scope} cxx_std_17)
include_directories("${PROJECT_SOURCE_DIR}/src")  # for the targets here, and for no program that links them

# A program includes <turtle/core/socket.h>, and finds no "base/mutex.h" by accident. One that
# writes "core/socket.h" links turtle::compat as well.
set(user_headers "${PROJECT_BINARY_DIR}/include")
set(copy_headers "${CMAKE_CURRENT_LIST_DIR}/user_headers.cmake")
set(copy_command "${CMAKE_COMMAND}" "-DFROM=${PROJECT_SOURCE_DIR}/src" "-DTO=${user_headers}/turtle"
                 -P "${copy_headers}")
file(GLOB_RECURSE library_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/*.h")
set(copied_headers "${library_headers}")  # named as outputs: what includes one waits for its copy
list(FILTER copied_headers EXCLUDE REGEX "^${PROJECT_SOURCE_DIR}/src/app/")
list(TRANSFORM copied_headers REPLACE "^${PROJECT_SOURCE_DIR}/src/" "${user_headers}/turtle/")
add_custom_command(OUTPUT "${user_headers}/copied" BYPRODUCTS ${copied_headers}
                   DEPENDS ${library_headers} "${copy_headers}"
                   COMMAND ${copy_command} COMMAND "${CMAKE_COMMAND}" -E touch "${user_headers}/copied"
                   COMMENT "Copying the headers for programs that use the library" VERBATIM)
add_custom_target(turtle_headers DEPENDS "${user_headers}/copied")
add_dependencies(turtle_library turtle_headers)
target_include_directories(turtle_library INTERFACE "$<BUILD_INTERFACE:${user_headers}>")

add_library(turtle_compat INTERFACE)
add_library(turtle::compat ALIAS turtle_compat)
set_target_properties(turtle_compat PROPERTIES EXPORT_NAME compat)
target_link_libraries(turtle_compat INTERFACE turtle_library)
target_include_directories(turtle_compat INTERFACE "$<BUILD_INTERFACE:${user_headers}/turtle>")

# From chapter 20 on: JSON, whose type is named in our headers, and regular expressions for paths.
if(EXISTS "${PROJECT_SOURCE_DIR}/src/http/router.cpp")
  list(PREPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}")  # Findre2.cmake
  find_package(nlohmann_json REQUIRED)
  find_package(re2 REQUIRED)
  target_link_libraries(turtle_library PUBLIC nlohmann_json::nlohmann_json PRIVATE re2::re2)
endif()

# From chapter 23 on: databases. The library does without, and says so when one is opened.
if(EXISTS "${PROJECT_SOURCE_DIR}/src/db/database.h")
  include("${CMAKE_CURRENT_LIST_DIR}/databases.cmake")
endif()

# From chapter 28 on.
if(EXISTS "${PROJECT_SOURCE_DIR}/src/uring/ring.cpp")
  include("${CMAKE_CURRENT_LIST_DIR}/io_uring.cmake")
endif()

# From chapter 29 on: passwords. The library does without, and refuses them then.
if(EXISTS "${PROJECT_SOURCE_DIR}/src/sites/password_hash.h")
  include("${CMAKE_CURRENT_LIST_DIR}/crypt.cmake")
endif()

# From chapter 30 on.
if(EXISTS "${PROJECT_SOURCE_DIR}/src/tls/tls.h")
  include("${CMAKE_CURRENT_LIST_DIR}/tls.cmake")
endif()

# From chapter 31 on.
if(EXISTS "${PROJECT_SOURCE_DIR}/src/compress/encoder.h")
  include("${CMAKE_CURRENT_LIST_DIR}/compress.cmake")
endif()

# From chapter 25 on: a page that the library has with it.
set(page "${PROJECT_SOURCE_DIR}/src/ops/dashboard")
if(EXISTS "${page}")
  set(made "${PROJECT_BINARY_DIR}/dashboard_files.cpp")
  set(embed "${CMAKE_CURRENT_LIST_DIR}/embed.cmake")
  file(GLOB page_files CONFIGURE_DEPENDS "${page}/*")
  add_custom_command(OUTPUT "${made}" DEPENDS ${page_files} "${embed}"
                     COMMAND "${CMAKE_COMMAND}" "-DFOLDER=${page}" "-DOUTPUT=${made}" -P "${embed}")
  target_sources(turtle_library PRIVATE "${made}")
endif()

# Many functions of the library are a line or two. In a release GCC may inline them across files;
# the archive holds ordinary code as well, for other compilers and for programs that don't want it.
if(library_sources AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT APPLE)
  set(inline_across_files "$<$<CONFIG:Release>:-flto=auto>")
  target_compile_options(turtle_library PRIVATE ${inline_across_files}
                         "$<$<CONFIG:Release>:-ffat-lto-objects>")
endif()

# --- the program: src/app; all of it but main.cpp is a library too, so that tests can link it ---
set(app_main "${PROJECT_SOURCE_DIR}/src/app/main.cpp")
set(test_libraries turtle_library)
if(app_main IN_LIST app_sources)
  list(REMOVE_ITEM app_sources "${app_main}")
  find_package(CLI11 REQUIRED)
  add_executable(turtle "${app_main}")
  target_link_libraries(turtle PRIVATE turtle_library CLI11::CLI11)
  target_link_options(turtle PRIVATE ${inline_across_files})
  if(app_sources)
    add_library(turtle_app STATIC ${app_sources})
    target_link_libraries(turtle_app PUBLIC turtle_library CLI11::CLI11)
    if(EXISTS "${PROJECT_SOURCE_DIR}/src/app/config.cpp")  # from chapter 18 on
      find_package(nlohmann_json REQUIRED)
      target_link_libraries(turtle_app PUBLIC nlohmann_json::nlohmann_json)
    endif()
    target_compile_definitions(turtle_app PRIVATE TURTLE_VERSION="${PROJECT_VERSION}")
    target_link_libraries(turtle PRIVATE turtle_app)
    list(PREPEND test_libraries turtle_app)
  endif()
  target_compile_definitions(turtle PRIVATE TURTLE_VERSION="${PROJECT_VERSION}")
  set_target_properties(turtle PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")
endif()

# --- examples: a program each, in <build>/examples; their scripts and data are copied beside ----
add_custom_target(all_examples ALL)
option(TURTLE_INLINE_EXAMPLES "In a release, inline the library's functions into the examples, too" ON)
foreach(source IN LISTS examples cgi_programs)
  get_filename_component(name "${source}" NAME_WE)
  get_filename_component(folder "${source}" DIRECTORY)
  file(RELATIVE_PATH folder "${PROJECT_SOURCE_DIR}" "${folder}")
  add_executable(${name} "${source}")
  target_link_libraries(${name} PRIVATE turtle_library)
  if(inline_across_files AND NOT TURTLE_INLINE_EXAMPLES)
    target_link_options(${name} PRIVATE "$<$<CONFIG:Release>:-fno-lto>")  # each takes seconds to link
  endif()
  if(name STREQUAL "nonblocking_query" AND TARGET MariaDB::client)
    target_link_libraries(${name} PRIVATE MariaDB::client)
    target_compile_definitions(${name} PRIVATE TURTLE_WITH_MARIADB)
  endif()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/${folder}")
  add_dependencies(all_examples ${name})
endforeach()

list(FILTER example_files EXCLUDE REGEX "[.](cpp|h)$")
foreach(file IN LISTS example_files)
  file(REAL_PATH "${PROJECT_SOURCE_DIR}/${file}" source)
  set(mode USE_SOURCE_PERMISSIONS)
  if(file MATCHES "/cgi-bin/")
    set(mode FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
                              WORLD_READ WORLD_EXECUTE)
  endif()
  configure_file("${source}" "${CMAKE_BINARY_DIR}/${file}" COPYONLY ${mode})
endforeach()

# --- tests: one program for each tests/*_test.cpp and tests/next/NN_*_test.cpp ------------------
# A test's label is the chapter that its file comes from, ch05. In the top-level build it is the
# chapter that was built, TURTLE_TEST_LABEL, and the name says so too: CTest gives the properties
# of a name to all tests of that name.
option(BUILD_TESTING "Build the tests" ON)
enable_testing()
if(BUILD_TESTING AND tests)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()
if(NOT BUILD_TESTING)
  set(tests)
endif()
if(tests)
  # Where the tests find the examples. Not a definition on the command line of each test: a
  # compiler cache could then not share the object between the builds of two chapters.
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/test_paths.cpp" @ONLY CONTENT
       "namespace TURTLE_SERVER::test {
extern const char* const kExamplesDir;
const char* const kExamplesDir = \"@CMAKE_BINARY_DIR@/examples\";
}
")
  add_library(turtle_test_paths STATIC "${PROJECT_BINARY_DIR}/test_paths.cpp")
  include("${CMAKE_CURRENT_LIST_DIR}/precompile.cmake")
  turtle_precompiled(precompiled)
endif()

# From chapter 28 on: the program over a channel, for the suites that test the program. A build
# without tests makes it only when it is asked for, and links it without another minute of inlining.
set(rot13_main "${PROJECT_SOURCE_DIR}/tests/support/turtle_rot13.cpp")
if(TARGET turtle_app AND EXISTS "${rot13_main}")
  add_executable(turtle_rot13 "${rot13_main}")
  target_include_directories(turtle_rot13 PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  target_link_libraries(turtle_rot13 PRIVATE turtle_app)
  if(inline_across_files)
    target_link_options(turtle_rot13 PRIVATE "$<$<CONFIG:Release>:-fno-lto>")
  endif()
  set_target_properties(turtle_rot13 PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")
  if(NOT tests)
    set_target_properties(turtle_rot13 PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
endif()

foreach(file IN LISTS tests)
  get_filename_component(name "${file}" NAME_WE)
  add_executable(${name} "${file}")
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  target_link_libraries(${name} PRIVATE ${test_libraries} turtle_test_paths GTest::gtest_main)
  target_compile_options(${name} PRIVATE ${precompiled})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  if(name STREQUAL "mariadb_statement_test" AND TARGET MariaDB::client)
    target_link_libraries(${name} PRIVATE MariaDB::client)
    target_compile_definitions(${name} PRIVATE TURTLE_WITH_MARIADB)
  endif()
  if(name STREQUAL "sqlite_memory_test" AND TARGET SQLite::SQLite3)
    target_link_libraries(${name} PRIVATE SQLite::SQLite3)
    target_compile_definitions(${name} PRIVATE TURTLE_WITH_SQLITE)
  endif()
  if(openssl_headers)  # tests of src/tls call OpenSSL as clients do
    target_include_directories(${name} SYSTEM PRIVATE "${openssl_headers}")
  endif()
  if(compress_headers)  # tests of src/compress decode as clients do
    target_include_directories(${name} SYSTEM PRIVATE "${compress_headers}")
  endif()
  # The names of support/child.h by which a test finds an example; "../turtle" is the program.
  file(STRINGS "${PROJECT_SOURCE_DIR}/${file}" examples_used
       REGEX "ExamplePath\\(|ExampleServer|kExamplesDir")
  list(FILTER examples_used EXCLUDE REGEX "\"[.][.]/turtle\"")
  if(examples_used)
    add_dependencies(${name} all_examples)
  endif()
  if(TARGET turtle)
    add_dependencies(${name} turtle)
  endif()

  set(prefix "${name}/")
  set(label final)
  if(TURTLE_TEST_LABEL)
    set(prefix "${TURTLE_TEST_LABEL}/${name}/")
    set(label "${TURTLE_TEST_LABEL}")
  elseif(DEFINED "TURTLE_ORIGIN_${file}")
    set(label "ch${TURTLE_ORIGIN_${file}}")
  endif()

  # tests/next/05_…: what the system can't do in chapter 05, and can from chapter 06 on. What the
  # newest chapter can't do, the finished system can't either.
  if(file MATCHES "^tests/next/(${TURTLE_CHAPTER}|${TURTLE_NEWEST_CHAPTER})_")
    add_test(NAME "${prefix}fails_by_assertion"
             COMMAND "${CMAKE_COMMAND}" "-DTEST=$<TARGET_FILE:${name}>"
                     -P "${PROJECT_SOURCE_DIR}/cmake/expect_failure.cmake")
    set_tests_properties("${prefix}fails_by_assertion" PROPERTIES LABELS ${label} TIMEOUT 60
                         SKIP_REGULAR_EXPRESSION "Skipped: this system can't show it.")
  else()
    gtest_discover_tests(${name} TEST_PREFIX "${prefix}" DISCOVERY_TIMEOUT 60
                         PROPERTIES LABELS ${label} TIMEOUT 60)
  endif()
endforeach()

# --- what measures it and what tries to break it: only the finished system has that -------------
foreach(part bench fuzz)
  if(EXISTS "${PROJECT_SOURCE_DIR}/${part}/CMakeLists.txt")
    add_subdirectory("${PROJECT_SOURCE_DIR}/${part}")
  endif()
endforeach()
