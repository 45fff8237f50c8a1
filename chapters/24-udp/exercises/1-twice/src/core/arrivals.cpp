#include "core/arrivals.h"

namespace TURTLE_SERVER {

auto Arrivals::Accept(std::uint64_t /*number*/) noexcept -> bool {
  return true;  // TODO: once
}

auto Arrivals::Lost() const noexcept -> std::uint64_t {
  return 0;  // TODO
}

}  // namespace TURTLE_SERVER
