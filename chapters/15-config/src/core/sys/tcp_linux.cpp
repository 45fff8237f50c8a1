// core/tcp.h over Linux's TCP_INFO and TCP_DEFER_ACCEPT.
#ifdef __linux__

#include <linux/tcp.h>  // has more in tcp_info than netinet/tcp.h
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>

#include "core/tcp.h"

namespace TURTLE_SERVER {

namespace {

constexpr std::uint32_t kPlenty = std::uint32_t{1} << 30;  // as if so many bytes had been read

}  // namespace

auto AcknowledgedBytes(int socket) noexcept -> std::uint32_t {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) {
    // A unix socket: the kernel has no such count, and says only how much is in the socket, which
    // is the same before and after it was read and filled again. The client is a program of this
    // machine, which somebody here has let in: it may take its time.
    static thread_local std::uint32_t count = 0;
    return errno == EOPNOTSUPP ? count += kPlenty : 0;
  }
  return static_cast<std::uint32_t>(info.tcpi_bytes_acked);
}

auto DeferAccept(int listener, std::chrono::seconds longest) noexcept -> bool {
  const auto seconds = static_cast<int>(longest.count());
  return setsockopt(listener, IPPROTO_TCP, TCP_DEFER_ACCEPT, &seconds, sizeof seconds) == 0;
}

}  // namespace TURTLE_SERVER

#endif  // __linux__
