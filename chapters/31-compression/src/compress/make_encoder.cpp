#include "compress/make_encoder.h"

#include <cassert>

#include "compress/brotli_encoder.h"
#include "compress/gzip_encoder.h"
#include "compress/zstd_encoder.h"

namespace TURTLE_SERVER {

auto MakeEncoder(Coding coding, Effort effort, std::optional<std::size_t> size)
    -> std::unique_ptr<Encoder> {
  switch (coding) {
    case Coding::kGzip:
      return std::make_unique<GzipEncoder>(effort, size);
    case Coding::kBrotli:
      return std::make_unique<BrotliEncoder>(effort, size);
    case Coding::kZstd:
      return std::make_unique<ZstdEncoder>(effort, size);
    case Coding::kIdentity:
      break;
  }
  assert(false);
  return nullptr;
}

auto EncodeAll(Coding coding, Effort effort, std::string_view plain) -> std::string {
  std::string coded;
  MakeEncoder(coding, effort, plain.size())->Encode(plain, Flush::kEnd, coded);
  return coded;
}

}  // namespace TURTLE_SERVER
