// core/tcp.h over Linux's TCP_INFO and TCP_DEFER_ACCEPT.
#ifdef __linux__

#include <linux/tcp.h>  // it has more in tcp_info than netinet/tcp.h
#include <netinet/in.h>
#include <sys/socket.h>

#include "core/tcp.h"

namespace TURTLE_SERVER {

auto AcknowledgedBytes(int socket) noexcept -> std::uint32_t {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) {
    return 0;
  }
  return static_cast<std::uint32_t>(info.tcpi_bytes_acked);
}

auto DeferAccept(int listener, std::chrono::seconds longest) noexcept -> bool {
  const auto seconds = static_cast<int>(longest.count());
  return setsockopt(listener, IPPROTO_TCP, TCP_DEFER_ACCEPT, &seconds, sizeof seconds) == 0;
}

}  // namespace TURTLE_SERVER

#endif  // __linux__
