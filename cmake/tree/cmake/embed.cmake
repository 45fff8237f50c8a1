# Makes the files of a folder a part of the program: writes C++ that holds them.
#
#   cmake -DFOLDER=src/ops/dashboard -DOUTPUT=dashboard_files.cpp -P embed.cmake
file(GLOB files "${FOLDER}/*")
list(SORT files)
set(entries "")
foreach(file IN LISTS files)
  get_filename_component(name "${file}" NAME)
  file(READ "${file}" text)
  if(text MATCHES "\\)file\"")
    message(FATAL_ERROR "${file}: holds what ends it")
  endif()
  string(APPEND entries "      {\"${name}\", R\"file(${text})file\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "// Made by cmake/embed.cmake of ${FOLDER}.
#include \"ops/dashboard_files.h\"

namespace TURTLE_SERVER {

auto DashboardFiles() -> std::vector<EmbeddedFile> {
  return {
${entries}  };
}

}  // namespace TURTLE_SERVER
")
