// core/tcp.h for macOS and FreeBSD. They report how much was sent for the first time. That count is
// at most one window ahead of the acknowledged bytes, so it grows as long as the client reads.
#ifndef __linux__

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "core/tcp.h"

namespace TURTLE_SERVER {

auto AcknowledgedBytes(int socket) noexcept -> std::uint32_t {
#if defined(__APPLE__)
  tcp_connection_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(socket, IPPROTO_TCP, TCP_CONNECTION_INFO, &info, &size) != 0) {
    return 0;
  }
  return static_cast<std::uint32_t>(info.tcpi_txbytes - info.tcpi_txretransmitbytes);
#else
  tcp_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) {
    return 0;
  }
  return info.tcpi_snd_nxt;
#endif
}

}  // namespace TURTLE_SERVER

#endif  // !__linux__
