// SendFile() over Linux's sendfile(2).
#ifdef __linux__

#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <cerrno>

#include "base/sigpipe_block.h"
#include "core/send_file.h"
#include "core/socket_calls.h"

namespace TURTLE_SERVER {

auto SendFlags(bool more_follows) noexcept -> int {
  return kNoSignal | (more_follows ? MSG_MORE : 0);
}

auto SendFile(int socket, int file, std::uint64_t offset, std::size_t count) -> IoResult {
  auto position = static_cast<off_t>(offset);
  ssize_t sent = 0;
  int error = 0;
  {
    const SigpipeBlock block;
    do {
      sent = sendfile(socket, file, &position, count);
    } while (sent < 0 && errno == EINTR);
    error = errno;
    if (sent < 0 ? error == EPIPE : static_cast<std::size_t>(sent) < count) {
      block.TakeAway();
    }
  }
  if (sent > 0) {
    return {IoStatus::kBytes, static_cast<std::size_t>(sent), 0};
  }
  if (sent == 0) {
    return {IoStatus::kEnd, 0, 0};
  }
  if (error == EINVAL || error == ENOSYS) {
    return CopyFile(socket, file, offset, count);
  }
  return IoFailure(error);
}

}  // namespace TURTLE_SERVER

#endif  // __linux__
