# Which databases the library can speak to. AUTO: those whose libraries are installed. ON: it is an
# error if they are not. OFF: not even if they are.
list(PREPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}")  # FindMariaDB.cmake

# turtle_database(SQLITE SQLite package version target include): offers TURTLE_SQLITE, and builds with
# it; an older version won't do, and with "" any will. Only the files that need it get to know of it:
# the others stay as they are in earlier chapters, and are compiled once for all of them.
function(turtle_database option name package version target include)
  set(TURTLE_${option} AUTO CACHE STRING "Build with ${name}: AUTO, ON, OFF")
  set_property(CACHE TURTLE_${option} PROPERTY STRINGS AUTO ON OFF)
  if(TURTLE_${option} STREQUAL "AUTO")
    find_package(${package} ${version} QUIET)
  elseif(TURTLE_${option})
    find_package(${package} ${version} REQUIRED)
  else()
    message(STATUS "${name}: built without, TURTLE_${option} is ${TURTLE_${option}}")
    return()
  endif()
  if(NOT TARGET ${target})
    message(STATUS "${name}: built without, it is not installed, or too old (TURTLE_${option}=ON insists)")
    return()
  endif()
  message(STATUS "${name}: built with ${${package}_VERSION}")
  target_link_libraries(turtle_library PRIVATE $<LINK_ONLY:${target}>)
  set(folders "${${include}}")
  list(REMOVE_ITEM folders ${CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES})  # found anyhow, in its place
  string(TOLOWER "${option}" file)
  set_source_files_properties(
    "${PROJECT_SOURCE_DIR}/src/db/${file}_database.cpp" "${PROJECT_SOURCE_DIR}/src/db/${file}_none.cpp"
    PROPERTIES COMPILE_DEFINITIONS TURTLE_WITH_${option} INCLUDE_DIRECTORIES "${folders}")
endfunction()

turtle_database(SQLITE SQLite SQLite3 3.37 SQLite::SQLite3 SQLite3_INCLUDE_DIR)
turtle_database(MARIADB MariaDB MariaDB "" MariaDB::client MARIADB_INCLUDE_DIR)
