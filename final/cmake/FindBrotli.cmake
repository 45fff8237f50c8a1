# Brotli, as the targets Brotli::encoder and Brotli::decoder: it has no CMake package of its own.
find_path(BROTLI_INCLUDE_DIR brotli/encode.h)
find_library(BROTLI_ENCODER_LIBRARY brotlienc)
find_library(BROTLI_DECODER_LIBRARY brotlidec)
mark_as_advanced(BROTLI_INCLUDE_DIR BROTLI_ENCODER_LIBRARY BROTLI_DECODER_LIBRARY)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  Brotli REQUIRED_VARS BROTLI_ENCODER_LIBRARY BROTLI_DECODER_LIBRARY BROTLI_INCLUDE_DIR)
if(Brotli_FOUND AND NOT TARGET Brotli::encoder)
  add_library(Brotli::encoder UNKNOWN IMPORTED)
  set_target_properties(Brotli::encoder PROPERTIES IMPORTED_LOCATION "${BROTLI_ENCODER_LIBRARY}"
                        INTERFACE_INCLUDE_DIRECTORIES "${BROTLI_INCLUDE_DIR}")
  add_library(Brotli::decoder UNKNOWN IMPORTED)
  set_target_properties(Brotli::decoder PROPERTIES IMPORTED_LOCATION "${BROTLI_DECODER_LIBRARY}"
                        INTERFACE_INCLUDE_DIRECTORIES "${BROTLI_INCLUDE_DIR}")
endif()
