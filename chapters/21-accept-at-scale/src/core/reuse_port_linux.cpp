// SharePort() and PreferCpu() over Linux's SO_REUSEPORT and SO_INCOMING_CPU.
#ifdef __linux__

#include <sched.h>
#include <sys/socket.h>

#include <cerrno>

#include "core/cpu_affinity.h"
#include "core/reuse_port.h"

namespace TURTLE_SERVER {

namespace {

auto Set(int socket, int option, int value) noexcept -> bool {
  return ::setsockopt(socket, SOL_SOCKET, option, &value, sizeof value) == 0;
}

}  // namespace

auto SharePort(int socket) noexcept -> bool { return Set(socket, SO_REUSEPORT, 1); }

// A listener that is dealt clients by CPU is looked for among its siblings since Linux 6.2; before,
// the option was heeded as long as no two listeners shared a port.
auto PreferCpu(int listener, std::optional<std::size_t> index) noexcept -> int {
  int cpu = -1;  // none
  if (index) {
    const CpuPin there(*index);  // there is no better way to learn its number than to go there
    if (there.Error() != 0) {
      return there.Error();
    }
    cpu = ::sched_getcpu();
  }
  return Set(listener, SO_INCOMING_CPU, cpu) ? 0 : errno;
}

}  // namespace TURTLE_SERVER

#endif  // __linux__
