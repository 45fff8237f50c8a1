# turtle_subbuild(ch05 chapters/05-timer): a build within the build, in <build>/ch05.
#
# Not add_subdirectory(): all chapters have a target called turtle_library. And each build folder
# looks like the other, so that ccache finds chapter 04's objects again for chapter 05.

set(turtle_passed_on CMAKE_BUILD_TYPE CMAKE_CXX_COMPILER CMAKE_CXX_FLAGS CMAKE_MAKE_PROGRAM
    CMAKE_PREFIX_PATH TURTLE_SANITIZE TURTLE_WARNINGS_AS_ERRORS)
cmake_host_system_information(RESULT turtle_processors QUERY NUMBER_OF_LOGICAL_CORES)

function(turtle_subbuild name source)
  set(binary "${PROJECT_BINARY_DIR}/${name}")
  set(arguments "set(TURTLE_TEST_LABEL ${name} CACHE STRING \"\" FORCE)\n")
  foreach(variable IN LISTS turtle_passed_on)
    if(NOT "${${variable}}" STREQUAL "")
      string(APPEND arguments "set(${variable} [[${${variable}}]] CACHE STRING \"\" FORCE)\n")
    endif()
  endforeach()
  file(CONFIGURE OUTPUT "${binary}/arguments.cmake" CONTENT "${arguments}" @ONLY)

  # Configured once, and again when an argument changes; what changes in the sources, the build
  # within notices itself.
  add_custom_command(
    OUTPUT "${binary}/configured"
    COMMAND "${CMAKE_COMMAND}" -G "${CMAKE_GENERATOR}" -C "${binary}/arguments.cmake" -S "${source}"
            -B "${binary}"
    COMMAND "${CMAKE_COMMAND}" -E touch "${binary}/configured"
    DEPENDS "${binary}/arguments.cmake"
    COMMENT "Configuring ${name}" VERBATIM)

  # The terminal goes to one build after the other, and each uses all processors.
  set(build "${CMAKE_COMMAND}" -E env --unset=MAKEFLAGS --unset=MAKELEVEL
      "${CMAKE_COMMAND}" --build "${binary}" --parallel ${turtle_processors})
  add_custom_target(${name} ALL COMMAND ${build} DEPENDS "${binary}/configured"
                    COMMENT "Building ${name}" USES_TERMINAL VERBATIM)

  file(GLOB programs CONFIGURE_DEPENDS "${source}/tests/*_test.cpp" "${source}/tests/next/*_test.cpp"
       "${source}/examples/*.cpp" "${source}/examples/cgi-bin/*.cpp")
  foreach(program IN LISTS programs)
    get_filename_component(program "${program}" NAME_WE)
    add_custom_target(${name}_${program} COMMAND ${build} --target ${program}
                      DEPENDS "${binary}/configured" USES_TERMINAL VERBATIM)
  endforeach()

  # Its tests are tests here. Before it is built there are none.
  file(CONFIGURE OUTPUT "${binary}/tests.cmake" @ONLY CONTENT
"if(EXISTS \"${binary}/CTestTestfile.cmake\")
  subdirs(\"${binary}\")
endif()
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${binary}/tests.cmake")
endfunction()
