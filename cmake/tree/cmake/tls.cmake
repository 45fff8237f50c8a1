# From chapter 30 on: TLS, by OpenSSL. Our headers only declare its types, so a program that uses the
# library links OpenSSL, and needs none of its headers.
find_package(OpenSSL 3.0 REQUIRED)
target_link_libraries(turtle_library PRIVATE $<LINK_ONLY:OpenSSL::SSL> $<LINK_ONLY:OpenSSL::Crypto>)

# Only the files of src/tls get to know where the headers are: the others stay as they are in earlier
# chapters, and are compiled once for all of them.
set(openssl_headers "${OPENSSL_INCLUDE_DIR}")
list(REMOVE_ITEM openssl_headers ${CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES})  # found anyhow, in its place
set(tls_sources "${library_sources}")
list(FILTER tls_sources INCLUDE REGEX "^${PROJECT_SOURCE_DIR}/src/tls/")
if(openssl_headers)
  set_source_files_properties(${tls_sources} PROPERTIES INCLUDE_DIRECTORIES "${openssl_headers}")
endif()
