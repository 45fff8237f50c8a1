#include "core/socket_calls.h"

#ifdef __APPLE__

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace TURTLE_SERVER {

namespace {

// There is no accept4 and no SOCK_CLOEXEC here, so a descriptor is briefly inheritable: don't start
// programs on one thread while another opens sockets.
auto Prepare(int fd, FdMode mode) noexcept -> int {
  if (fd < 0) {
    return -1;
  }
  // On the BSDs, an accepted socket inherits O_NONBLOCK from the listener, so the mode must be both
  // set and cleared.
  const int flags = ::fcntl(fd, F_GETFL);
  const int wanted = mode == FdMode::kNonBlocking ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
  if (flags < 0 || ::fcntl(fd, F_SETFL, wanted) != 0 || ::fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) {
    const int error = errno;
    ::close(fd);
    errno = error;
    return -1;
  }
  MuteSigpipe(fd);
  return fd;
}

}  // namespace

const int kNoSignal = 0;

auto OpenSocket(int family, FdMode mode) noexcept -> int {
  return Prepare(::socket(family, SOCK_STREAM, 0), mode);
}

auto AcceptSocket(int listener, NetAddress& client, FdMode mode) noexcept -> int {
  client = NetAddress();  // an empty one has room for every kind of address
  return Prepare(::accept(listener, client.Data(), client.Length()), mode);
}

void MuteSigpipe(int fd) noexcept {
  const int on = 1;
  // Fails for a descriptor that is no socket or is already shut down; neither can raise SIGPIPE.
  static_cast<void>(::setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof(on)));
}

}  // namespace TURTLE_SERVER

#endif  // __APPLE__
