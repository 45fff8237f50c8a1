// Wakeup where there is no eventfd: a pipe(2). A full pipe is as good a wake-up as any.
#ifndef __linux__

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "core/wakeup.h"

namespace TURTLE_SERVER {

Wakeup::Wakeup() {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) {
    throw std::system_error(errno, std::system_category(), "pipe");
  }
  read_end_.Reset(ends[0]);
  write_end_.Reset(ends[1]);
  for (const int fd : ends) {
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0 || fcntl(fd, F_SETFL, O_NONBLOCK) != 0) {
      throw std::system_error(errno, std::system_category(), "fcntl");
    }
  }
}

void Wakeup::Signal() noexcept {
  const int saved_errno = errno;
  [[maybe_unused]] const auto written = write(write_end_.Get(), "", 1);
  errno = saved_errno;
}

void Wakeup::Clear() noexcept {
  std::array<char, 256> bytes;
  while (read(read_end_.Get(), bytes.data(), bytes.size()) > 0) {
  }
}

}  // namespace TURTLE_SERVER

#endif  // !__linux__
