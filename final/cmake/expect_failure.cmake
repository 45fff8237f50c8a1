# Runs a GoogleTest program that has to fail, and to fail properly: an assertion says what is
# missing. A crash, a hang, an exception or a success is an error.
#
#   cmake -DTEST=path/to/test -P expect_failure.cmake
execute_process(COMMAND "${TEST}" TIMEOUT 50 RESULT_VARIABLE result OUTPUT_VARIABLE output
                ERROR_VARIABLE output)
message("${output}")
if(result EQUAL 0 AND output MATCHES "\\[  SKIPPED \\]" AND NOT output MATCHES "\\[       OK \\]")
  message("Skipped: this system can't show it.")
  return()
elseif(result EQUAL 0)
  message(FATAL_ERROR "It passed. The chapter can already do what the next one promises.")
elseif(NOT result EQUAL 1)
  message(FATAL_ERROR "It did not fail by assertion, it ended with: ${result}")
elseif(output MATCHES "C\\+\\+ exception")
  message(FATAL_ERROR "It did not fail by assertion, it threw an exception.")
elseif(NOT output MATCHES "tests? from [0-9]+ test suites? ran" OR NOT output MATCHES ": Failure\n")
  message(FATAL_ERROR "It did not run its tests to the end.")
endif()
message("Failed by assertion, as expected in this chapter.")
