// core/tcp.h over Linux's TCP_INFO and TCP_DEFER_ACCEPT, and the system's part of core/reuse_port.h
// over SO_REUSEPORT and SO_INCOMING_CPU.
#ifdef __linux__

#include <linux/tcp.h>  // it has more in tcp_info than netinet/tcp.h
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/utsname.h>

#include <cerrno>
#include <cstdio>

#include "core/reuse_port.h"
#include "core/tcp.h"

namespace TURTLE_SERVER {

namespace {

auto Set(int socket, int option, int value) noexcept -> bool {
  return ::setsockopt(socket, SOL_SOCKET, option, &value, sizeof value) == 0;
}

// Before Linux 6.2 the option was ignored if two listeners shared a port.
auto IsHeeded() noexcept -> bool {
  utsname system{};
  int major = 0;
  int minor = 0;
  return ::uname(&system) == 0 && std::sscanf(system.release, "%d.%d", &major, &minor) == 2 &&
         (major > 6 || (major == 6 && minor >= 2));
}

}  // namespace

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

auto SharePort(int socket) noexcept -> bool { return Set(socket, SO_REUSEPORT, 1); }

auto PreferThisCpu(int listener) noexcept -> int {
  if (!Set(listener, SO_INCOMING_CPU, ::sched_getcpu())) {
    return errno;
  }
  return IsHeeded() ? 0 : ENOTSUP;
}

auto PreferNoCpu(int listener) noexcept -> int {
  return Set(listener, SO_INCOMING_CPU, -1) ? 0 : errno;
}

}  // namespace TURTLE_SERVER

#endif  // __linux__
