// The Linux side of Wakeup: an eventfd(2), a counter in the kernel with one descriptor.
#ifdef __linux__

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

#include "core/wakeup.h"

namespace TURTLE_SERVER {

Wakeup::Wakeup() : read_end_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (!read_end_) {
    throw std::system_error(errno, std::system_category(), "eventfd");
  }
}

void Wakeup::Signal() noexcept {
  const int saved_errno = errno;  // a signal handler may run between a system call and its check
  const std::uint64_t one = 1;
  // It can fail only if the counter is full: then the wake-up is already there.
  [[maybe_unused]] const auto written = write(read_end_.Get(), &one, sizeof one);
  errno = saved_errno;
}

void Wakeup::Clear() noexcept {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto taken = read(read_end_.Get(), &count, sizeof count);
}

}  // namespace TURTLE_SERVER

#endif  // __linux__
