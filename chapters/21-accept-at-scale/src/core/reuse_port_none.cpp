// SharePort() and PreferCpu() where the system has no such thing.
#ifndef __linux__

#include <cerrno>

#include "core/reuse_port.h"

namespace TURTLE_SERVER {

auto SharePort(int /*socket*/) noexcept -> bool { return false; }

auto PreferCpu(int /*listener*/, std::optional<std::size_t> /*index*/) noexcept -> int {
  return ENOTSUP;
}

}  // namespace TURTLE_SERVER

#endif  // !__linux__
