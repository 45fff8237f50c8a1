#include "compress/make_decoder.h"

#include <cassert>

#include "compress/brotli_decoder.h"
#include "compress/gzip_decoder.h"
#include "compress/zstd_decoder.h"

namespace TURTLE_SERVER {

auto MakeDecoder(Coding coding) -> std::unique_ptr<Decoder> {
  switch (coding) {
    case Coding::kGzip:
      return std::make_unique<GzipDecoder>();
    case Coding::kBrotli:
      return std::make_unique<BrotliDecoder>();
    case Coding::kZstd:
      return std::make_unique<ZstdDecoder>();
    case Coding::kIdentity:
      break;
  }
  assert(false);
  return nullptr;
}

}  // namespace TURTLE_SERVER
