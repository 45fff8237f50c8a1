# From chapter 31 on: the codings of HTTP, by zlib, Brotli and Zstandard. Our headers only declare their
# types, so a program that uses the library links them, and needs none of their headers.
list(PREPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}")  # FindBrotli.cmake, FindZstd.cmake
find_package(ZLIB REQUIRED)
find_package(Brotli REQUIRED)
find_package(Zstd REQUIRED)
target_link_libraries(turtle_library PRIVATE
  $<LINK_ONLY:ZLIB::ZLIB> $<LINK_ONLY:Brotli::encoder> $<LINK_ONLY:Brotli::decoder> $<LINK_ONLY:Zstd::zstd>)

# Only the files of src/compress get to know where the headers are (cmake/tls.cmake says why).
set(compress_headers "${ZLIB_INCLUDE_DIRS}" "${BROTLI_INCLUDE_DIR}" "${ZSTD_INCLUDE_DIR}")
list(REMOVE_DUPLICATES compress_headers)
list(REMOVE_ITEM compress_headers ${CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES})
set(compress_sources "${library_sources}")
list(FILTER compress_sources INCLUDE REGEX "^${PROJECT_SOURCE_DIR}/src/compress/")
if(compress_headers)
  set_source_files_properties(${compress_sources} PROPERTIES INCLUDE_DIRECTORIES "${compress_headers}")
endif()
