// DeferAccept() over Linux's TCP_DEFER_ACCEPT.
#ifdef __linux__

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "core/deferred_accept.h"

namespace TURTLE_SERVER {

auto DeferAccept(int listener, std::chrono::seconds longest) noexcept -> bool {
  const auto seconds = static_cast<int>(longest.count());
  return setsockopt(listener, IPPROTO_TCP, TCP_DEFER_ACCEPT, &seconds, sizeof seconds) == 0;
}

}  // namespace TURTLE_SERVER

#endif  // __linux__
