# Copies the headers for programs that use the library. In the copies #include "core/socket.h" reads
# #include <turtle/core/socket.h>, so that the folder above TO is all that they need on the path.
#
#   cmake -DFROM=src -DTO=build/include/turtle -P user_headers.cmake
file(GLOB_RECURSE headers RELATIVE "${FROM}" "${FROM}/*.h")
list(FILTER headers EXCLUDE REGEX "^app/")  # the program's own
file(GLOB_RECURSE present RELATIVE "${TO}" "${TO}/*")
list(REMOVE_ITEM present ${headers})
foreach(header IN LISTS present)
  file(REMOVE "${TO}/${header}")
endforeach()
foreach(header IN LISTS headers)
  file(READ "${FROM}/${header}" text)
  string(REGEX REPLACE "(^|\n)#include \"([^\"\n]+)\"" "\\1#include <turtle/\\2>" text "${text}")
  set(before "")
  if(EXISTS "${TO}/${header}")
    file(READ "${TO}/${header}" before)
  endif()
  if(NOT text STREQUAL before)  # a copy that is right stays untouched, so nothing is compiled again
    file(WRITE "${TO}/${header}" "${text}")
  endif()
endforeach()
