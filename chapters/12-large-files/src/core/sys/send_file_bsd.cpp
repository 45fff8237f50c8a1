// SendFile() over the sendfile(2) of FreeBSD and macOS, which share a name and little else. The
// other systems have none and copy.
#ifndef __linux__

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <cerrno>

#include "core/send_file.h"
#include "core/socket_calls.h"

namespace TURTLE_SERVER {

namespace {

#if defined(__APPLE__)
auto KernelSend(int socket, int file, off_t offset, std::size_t count, off_t* sent) -> int {
  *sent = static_cast<off_t>(count);
  return sendfile(file, socket, offset, sent, nullptr, 0);
}
#elif defined(__FreeBSD__) || defined(__DragonFly__)
auto KernelSend(int socket, int file, off_t offset, std::size_t count, off_t* sent) -> int {
  *sent = 0;
  return sendfile(file, socket, offset, count, nullptr, sent, 0);
}
#else
auto KernelSend(int, int, off_t, std::size_t, off_t* sent) -> int {
  *sent = 0;
  errno = ENOTSUP;
  return -1;
}
#endif

}  // namespace

auto SendFlags(bool more_follows) noexcept -> int {
  static_cast<void>(more_follows);  // no MSG_MORE here
  return kNoSignal;
}

auto SendFile(int socket, int file, std::uint64_t offset, std::size_t count) -> IoResult {
#ifdef SO_NOSIGPIPE
  // On macOS a socket option already prevents SIGPIPE, but on FreeBSD only send(2) has a flag for
  // that, and sendfile(2) has none. A failure shows as the error of the call below.
  const int on = 1;
  setsockopt(socket, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
#endif
  off_t sent = 0;
  int result = 0;
  do {
    result = KernelSend(socket, file, static_cast<off_t>(offset), count, &sent);
  } while (result != 0 && errno == EINTR && sent == 0);
  // A call that was interrupted or would block also reports what it sent before.
  if (sent > 0 && (result == 0 || errno == EAGAIN || errno == EINTR)) {
    return {IoStatus::kBytes, static_cast<std::size_t>(sent), 0};
  }
  if (result == 0) {
    return {IoStatus::kEnd, 0, 0};
  }
  if (errno == EINVAL || errno == ENOTSUP || errno == EOPNOTSUPP) {
    return CopyFile(socket, file, offset, count);
  }
  return IoFailure(errno);
}

}  // namespace TURTLE_SERVER

#endif  // !__linux__
