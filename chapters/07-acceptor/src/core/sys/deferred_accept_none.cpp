// DeferAccept() where the system has no such thing.
#ifndef __linux__

#include "core/deferred_accept.h"

namespace TURTLE_SERVER {

auto DeferAccept(int /*listener*/, std::chrono::seconds /*longest*/) noexcept -> bool {
  return false;
}

}  // namespace TURTLE_SERVER

#endif  // !__linux__
