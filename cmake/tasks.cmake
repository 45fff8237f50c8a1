# The tasks: cmake --build build --target format
find_package(Python3 3.9 COMPONENTS Interpreter)
set(python "${Python3_EXECUTABLE}")
set(final "${PROJECT_BINARY_DIR}/final")

# turtle_task(name "what it does" COMMAND …): a target that runs in the repository's folder. Where
# `tool` is not installed it says so.
function(turtle_task name comment tool)
  if(tool)
    find_program("TURTLE_TOOL_${tool}" "${tool}")
    mark_as_advanced("TURTLE_TOOL_${tool}")
    if(NOT TURTLE_TOOL_${tool})
      add_custom_target(${name} COMMAND "${CMAKE_COMMAND}" -E echo "${name} needs ${tool}"
                        COMMAND "${CMAKE_COMMAND}" -E false VERBATIM)
      return()
    endif()
  endif()
  add_custom_target(${name} ${ARGN} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
                    COMMENT "${comment}" USES_TERMINAL VERBATIM)
endfunction()

# --- the sources --------------------------------------------------------------------------------
# final/ is made of the same files, so the chapters' are enough; `format` brings it up to date. What
# only final/ has is in final/bench and final/fuzz; cookbook/ stands beside the book.
set(each_source find chapters final/bench final/fuzz cookbook -name "*.h" -print0 -o -name "*.cpp" -print0)
turtle_task(format "Formatting the chapters" clang-format
            COMMAND ${each_source} | xargs -0 clang-format -i
            COMMAND "${python}" tools/chapters.py sync)
turtle_task(check-format "Checking the format" clang-format
            COMMAND ${each_source} | xargs -0 clang-format --dry-run -Werror)
turtle_task(cpplint "Checking the style" cpplint
            COMMAND ${each_source} | xargs -0 cpplint --quiet)
turtle_task(check-clang-tidy "Checking final with clang-tidy" clang-tidy
            COMMAND "${CMAKE_COMMAND}" "${final}"  # files may have come since
            COMMAND "${python}" tools/tidy.py "${final}" "final/(src|examples|bench|fuzz)/"
            DEPENDS "${final}/configured")
turtle_task(linecount "Counting lines" ""
            COMMAND "${python}" tools/linecount.py)
turtle_task(docs "Building the site" ""
            COMMAND "${python}" tools/site.py build)

# --- the finished system ------------------------------------------------------------------------
# The server on port 20080, 10,500 clients, five seconds; `./learn bench` compares with others.
turtle_task(benchmark "Measuring final" ""
            COMMAND "${CMAKE_COMMAND}" --build "${final}" --target turtle turtle_bench
            COMMAND "${python}" tools/benchmark.py "${final}"
            DEPENDS "${final}/configured")

# echo_server, echo_client and http_server are built and then stand in the build folder:
#   cmake --build build --target echo_server && build/echo_server
foreach(program echo_server echo_client http_server)
  if(EXISTS "${PROJECT_SOURCE_DIR}/final/examples/${program}.cpp")
    set(made "${final}/examples/${program}")
    set(target ${program})
  elseif(program STREQUAL http_server)
    set(made "${PROJECT_BINARY_DIR}/http_server.sh")  # the program `turtle`, started
    set(target turtle)
    file(CONFIGURE OUTPUT "${made}.in" @ONLY CONTENT
"#!/bin/sh
# http_server [FOLDER [PORT]]
exec \"${final}/turtle\" serve \"\${1:-${PROJECT_SOURCE_DIR}/docs}\" --port \"\${2:-20080}\"
")
    configure_file("${made}.in" "${made}" COPYONLY FILE_PERMISSIONS
                   OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
                   WORLD_READ WORLD_EXECUTE)
  else()
    continue()
  endif()
  turtle_task(${program} "Building ${program}" ""
              COMMAND "${CMAKE_COMMAND}" --build "${final}" --target ${target}
              COMMAND "${CMAKE_COMMAND}" -E create_symlink "${made}"
                      "${PROJECT_BINARY_DIR}/${program}"
              COMMAND "${CMAKE_COMMAND}" -E echo "start it with ${PROJECT_BINARY_DIR}/${program}"
              DEPENDS "${final}/configured")
endforeach()
