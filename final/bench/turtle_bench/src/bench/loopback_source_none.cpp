#include "bench/loopback_source.h"

#ifndef __linux__

#include <cerrno>

namespace TURTLE_SERVER {

// Elsewhere only 127.0.0.1 is configured.
auto HasLoopbackSources(const NetAddress& /*server*/) -> bool { return false; }

auto BindLoopbackSource(int /*fd*/, std::uint32_t /*number*/) noexcept -> int {
  return EADDRNOTAVAIL;
}

}  // namespace TURTLE_SERVER

#endif  // not __linux__
