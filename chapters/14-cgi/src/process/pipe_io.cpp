#include "process/pipe_io.h"

#include <unistd.h>

#include <cerrno>

#include "base/sigpipe_block.h"

namespace TURTLE_SERVER {

auto ReadPipe(int fd, char* into, std::size_t room) noexcept -> IoResult {
  for (;;) {
    const ssize_t count = ::read(fd, into, room);
    if (count > 0) {
      return {IoStatus::kBytes, static_cast<std::size_t>(count), 0};
    }
    if (count == 0) {
      return {IoStatus::kEnd, 0, 0};
    }
    if (errno != EINTR) {
      return IoFailure(errno);
    }
  }
}

auto WritePipe(int fd, std::string_view bytes) noexcept -> IoResult {
  if (bytes.empty()) {
    return {IoStatus::kBytes, 0, 0};
  }
  const SigpipeBlock block;
  for (;;) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count >= 0) {
      return {IoStatus::kBytes, static_cast<std::size_t>(count), 0};
    }
    if (errno == EPIPE) {
      block.TakeAway();
      return IoFailure(EPIPE);
    }
    if (errno != EINTR) {
      return IoFailure(errno);
    }
  }
}

}  // namespace TURTLE_SERVER
