// OpenPipe() for systems with pipe2(2): Linux and the BSDs.
#ifndef __APPLE__

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "process/pipe_io.h"

namespace TURTLE_SERVER {

auto OpenPipe(PipeMode mode, Pipe& pipe) noexcept -> int {
  pipe = Pipe();
  std::array<int, 2> ends{};
  // Close-on-exec from the beginning: another loop may be starting a program just now, which would
  // keep this pipe open and so hide its end from us.
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return errno;
  }
  pipe.read_end.Reset(ends[0]);
  pipe.write_end.Reset(ends[1]);
  const int ours = mode == PipeMode::kNonBlockingRead ? ends[0] : ends[1];
  if (mode != PipeMode::kBlocking && ::fcntl(ours, F_SETFL, O_NONBLOCK) != 0) {
    const int error = errno;
    pipe = Pipe();
    return error;
  }
  return 0;
}

}  // namespace TURTLE_SERVER

#endif  // !__APPLE__
