#include "base/unique_fd.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

namespace TURTLE_SERVER {

auto UniqueFd::operator=(UniqueFd&& other) noexcept -> UniqueFd& {
  // Release first: on self-move the descriptor is taken out and put back before anything is closed.
  Reset(other.Release());
  return *this;
}

auto UniqueFd::Release() noexcept -> int { return std::exchange(fd_, -1); }

void UniqueFd::Reset(int fd) noexcept {
  const int old = std::exchange(fd_, fd < 0 ? -1 : fd);
  if (old < 0 || old == fd_) {
    return;
  }
  const int saved_errno = errno;
  // Not repeated on EINTR: the descriptor is gone even then, and by the time of a second close
  // another thread may have been given the same number (close(2), "Dealing with error returns").
  if (::close(old) != 0 && errno == EBADF) {
    std::abort();
  }
  errno = saved_errno;
}

}  // namespace TURTLE_SERVER
