// SharePort() and PreferThisCpu() over Linux's SO_REUSEPORT and SO_INCOMING_CPU.
#ifdef __linux__

#include <sched.h>
#include <sys/socket.h>
#include <sys/utsname.h>

#include <cerrno>
#include <cstdio>

#include "core/reuse_port.h"

namespace TURTLE_SERVER {

namespace {

auto Set(int socket, int option, int value) noexcept -> bool {
  return ::setsockopt(socket, SOL_SOCKET, option, &value, sizeof value) == 0;
}

// Before Linux 6.2 the option was heeded as long as no two listeners shared a port.
auto IsHeeded() noexcept -> bool {
  utsname system{};
  int major = 0;
  int minor = 0;
  return ::uname(&system) == 0 && std::sscanf(system.release, "%d.%d", &major, &minor) == 2 &&
         (major > 6 || (major == 6 && minor >= 2));
}

}  // namespace

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
