// OpenPipe() on macOS, which has no pipe2(2).
#ifdef __APPLE__

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "process/pipe_io.h"

namespace TURTLE_SERVER {

// For a short time the ends are not close-on-exec. A ChildProcess started by another thread then
// still doesn't get them: it marks all its descriptors before execve(2).
auto OpenPipe(PipeMode mode, Pipe& pipe) noexcept -> int {
  pipe = Pipe();
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) {
    return errno;
  }
  pipe.read_end.Reset(ends[0]);
  pipe.write_end.Reset(ends[1]);
  const int ours = mode == PipeMode::kNonBlockingRead ? ends[0] : ends[1];
  if (::fcntl(ends[0], F_SETFD, FD_CLOEXEC) != 0 || ::fcntl(ends[1], F_SETFD, FD_CLOEXEC) != 0 ||
      (mode != PipeMode::kBlocking && ::fcntl(ours, F_SETFL, O_NONBLOCK) != 0)) {
    const int error = errno;
    pipe = Pipe();
    return error;
  }
  return 0;
}

}  // namespace TURTLE_SERVER

#endif  // __APPLE__
