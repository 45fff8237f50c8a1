#include "compress/gzip_pool.h"

#include "compress/coding.h"
#include "compress/make_encoder.h"

namespace TURTLE_SERVER {

GzipPool::GzipPool(std::size_t /*most*/) {
  // TODO
}

GzipPool::~GzipPool() = default;

auto GzipPool::Take(Effort effort, std::optional<std::size_t> size) -> std::unique_ptr<Encoder> {
  return MakeEncoder(Coding::kGzip, effort, size);  // TODO: with a spare stream
}

auto GzipPool::Made() const noexcept -> std::uint64_t {
  return 0;  // TODO
}

auto GzipPool::Spare() const noexcept -> std::size_t {
  return 0;  // TODO
}

}  // namespace TURTLE_SERVER
