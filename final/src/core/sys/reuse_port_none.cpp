// SharePort() and PreferThisCpu() where the system has no such thing.
#ifndef __linux__

#include <cerrno>

#include "core/reuse_port.h"

namespace TURTLE_SERVER {

auto SharePort(int /*socket*/) noexcept -> bool { return false; }

auto PreferThisCpu(int /*listener*/) noexcept -> int { return ENOTSUP; }

auto PreferNoCpu(int /*listener*/) noexcept -> int { return ENOTSUP; }

}  // namespace TURTLE_SERVER

#endif  // !__linux__
