# How a chapter becomes a program.
#
# A chapter's folder holds only what the chapter adds or changes. turtle_chapter() lays chapters
# 01 to NN over each other, the newest version of each file winning, as a tree of symbolic links
# in <build>/tree, and compiles that tree as one ordinary project: cmake/tree/CMakeLists.txt.
# A line in a chapter's withdrawn.txt takes a file of an earlier chapter away.

# Sets `out` to the files of the chapters up to `number`, newest version of each, and
# chapter_of_<file> to the folder that each one comes from.
macro(turtle_files number out)
  set(${out})
  file(GLOB turtle_chapters "${turtle_root}/chapters/[0-9][0-9]-*")
  foreach(chapter IN LISTS turtle_chapters)
    if(chapter MATCHES "/([0-9][0-9])-[^/]*$" AND CMAKE_MATCH_1 LESS_EQUAL "${number}")
      # CONFIGURE_DEPENDS: a plain rebuild notices new and removed files.
      file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE "${chapter}"
           "${chapter}/src/*" "${chapter}/tests/*" "${chapter}/examples/*")
      list(FILTER files EXCLUDE REGEX "(^|/)[.]|~$|/__pycache__/")
      foreach(file IN LISTS files)
        set("chapter_of_${file}" "${chapter}")
      endforeach()
      list(APPEND ${out} ${files})
      file(GLOB withdrawals CONFIGURE_DEPENDS "${chapter}/withdrawn.txt")
      if(withdrawals)
        file(STRINGS "${withdrawals}" withdrawn REGEX "^[^#]")
        list(REMOVE_ITEM ${out} ${withdrawn})
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${withdrawals}")
      endif()
    endif()
  endforeach()
  list(REMOVE_DUPLICATES ${out})
endmacro()

# Builds the chapter in whose CMakeLists.txt it is called.
function(turtle_chapter)
  string(REGEX MATCH "([0-9][0-9])-[^/]*$" name "${CMAKE_CURRENT_SOURCE_DIR}")
  set(number "${CMAKE_MATCH_1}")
  set(tree "${CMAKE_BINARY_DIR}/tree")
  turtle_files("${number}" wanted)

  # Links that are right stay untouched, so that a rebuild compiles only what changed.
  file(GLOB_RECURSE present RELATIVE "${tree}" "${tree}/src/*" "${tree}/tests/*"
       "${tree}/examples/*")
  if(present)
    list(REMOVE_ITEM present ${wanted})
  endif()
  foreach(file IN LISTS present)
    file(REMOVE "${tree}/${file}")
  endforeach()

  set(origins "set(TURTLE_CHAPTER ${number})\n")
  foreach(file IN LISTS wanted)
    turtle_link("${chapter_of_${file}}/${file}" "${tree}/${file}")
    if(file MATCHES "^tests/.*_test[.]cpp$")
      string(REGEX MATCH "/([0-9][0-9])-[^/]*$" unused "${chapter_of_${file}}")
      string(APPEND origins "set(\"TURTLE_ORIGIN_${file}\" ${CMAKE_MATCH_1})\n")
    endif()
  endforeach()
  turtle_link("${turtle_root}/cmake/tree/CMakeLists.txt" "${tree}/CMakeLists.txt")
  turtle_link("${turtle_root}/cmake/tree/cmake" "${tree}/cmake")
  file(CONFIGURE OUTPUT "${tree}/chapter.cmake" CONTENT "${origins}" @ONLY)

  add_subdirectory("${tree}" "${CMAKE_BINARY_DIR}/objects")
endfunction()

# Makes `link` a symbolic link to `file`.
function(turtle_link file link)
  if(IS_SYMLINK "${link}")
    file(READ_SYMLINK "${link}" target)
    if(target STREQUAL file)
      return()
    endif()
    # Another chapter's version: it may be older than the object compiled from the one before.
    file(TOUCH_NOCREATE "${file}")
  endif()
  get_filename_component(folder "${link}" DIRECTORY)
  file(MAKE_DIRECTORY "${folder}")
  file(CREATE_LINK "${file}" "${link}" SYMBOLIC)
endfunction()

enable_testing()
get_filename_component(turtle_root "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
