# GoogleTest and the standard library, parsed once for all tests of all builds.
#
#   cmake -DTURTLE_PRECOMPILE=/home/me/.cache/turtle/precompiled …
#
# Off by default: what a test uses, it includes itself. With a folder, a build of all tests takes
# half the time. The folder outlives the build, so that a compiler cache, which sees the precompiled
# header's content, finds an object of chapter 14 again for chapter 15.
set(TURTLE_PRECOMPILE "" CACHE PATH "A folder for precompiled headers; empty: tests are compiled without")

# Sets `out` to the options by which a test uses the precompiled header, or to none.
function(turtle_precompiled out)
  set(${out} "" PARENT_SCOPE)
  if(NOT TURTLE_PRECOMPILE)
    return()
  endif()
  set(headers gtest/gtest.h algorithm array atomic chrono condition_variable filesystem fstream
      functional future map memory mutex optional sstream string string_view thread utility variant
      vector)
  list(TRANSFORM headers REPLACE "(.+)" "#include <\\1>\n")
  string(JOIN "" text ${headers})

  # It fits only the compiler and the options that it was made with.
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  get_directory_property(options COMPILE_OPTIONS)
  get_target_property(definitions GTest::gtest INTERFACE_COMPILE_DEFINITIONS)
  get_target_property(of_gtest GTest::gtest INTERFACE_COMPILE_OPTIONS)
  list(TRANSFORM definitions PREPEND "-D")
  list(APPEND options ${definitions} ${of_gtest})
  list(FILTER options EXCLUDE REGEX "NOTFOUND$")
  separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}}")
  set(command "${CMAKE_CXX_COMPILER}" ${flags} ${options} "${CMAKE_CXX17_STANDARD_COMPILE_OPTION}"
      -x c++-header)
  file(MAKE_DIRECTORY "${TURTLE_PRECOMPILE}")
  string(SHA256 name "${text}")
  set(header "${TURTLE_PRECOMPILE}/${name}.h")
  if(NOT EXISTS "${header}")
    file(WRITE "${header}" "${text}")
  endif()
  execute_process(COMMAND ${command} -E "${header}" OUTPUT_VARIABLE preprocessed RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "TURTLE_PRECOMPILE: ${CMAKE_CXX_COMPILER} can't read ${header}")
  endif()
  string(SHA256 key "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} ${command} ${preprocessed}")
  string(SUBSTRING "${key}" 0 16 key)
  set(folder "${TURTLE_PRECOMPILE}/${key}")
  set(header "${folder}/test_headers.h")
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    set(made "${folder}/test_headers.pch")
    set(use -include-pch "${made}")
  else()
    set(made "${header}.gch")  # GCC takes it for the header beside which it is
    set(use -include "${header}" -Winvalid-pch)
  endif()

  file(LOCK "${folder}.lock" GUARD FUNCTION)  # other builds may want the same
  if(NOT EXISTS "${made}")
    file(WRITE "${header}" "${text}")
    execute_process(COMMAND ${command} "${header}" -o "${made}.new" RESULT_VARIABLE status)
    if(NOT status EQUAL 0)
      message(FATAL_ERROR "TURTLE_PRECOMPILE: ${CMAKE_CXX_COMPILER} can't compile ${header}")
    endif()
    file(RENAME "${made}.new" "${made}")
  endif()
  string(JOIN ";" use ${use})
  string(REPLACE "-include;" "SHELL:-include " use "${use}")
  string(REPLACE "-include-pch;" "SHELL:-include-pch " use "${use}")
  set(${out} "${use}" PARENT_SCOPE)
endfunction()
