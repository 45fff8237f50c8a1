#include "web/pipe_io.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace TURTLE_SERVER {

namespace {

// There is no MSG_NOSIGNAL for pipes, and a library doesn't change what a process does with a
// signal. So SIGPIPE is blocked in this thread, and one that our write raised is taken away before
// it is unblocked. It can't be another's: a write raises it for its own thread.
class SigpipeMute {
 public:
  SigpipeMute() noexcept {
    ::sigemptyset(&sigpipe_);
    ::sigaddset(&sigpipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &sigpipe_, &before_);
    was_pending_ = IsPending();
  }
  SigpipeMute(const SigpipeMute&) = delete;
  auto operator=(const SigpipeMute&) -> SigpipeMute& = delete;

  ~SigpipeMute() {
    const int error = errno;
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }

  // Call after a write that failed with EPIPE.
  void TakeAway() const noexcept {
    if (!was_pending_ && IsPending()) {  // not pending: the process ignores it
      int number = 0;
      ::sigwait(&sigpipe_, &number);
    }
  }

 private:
  static auto IsPending() noexcept -> bool {
    sigset_t pending;
    ::sigemptyset(&pending);
    ::sigpending(&pending);
    return ::sigismember(&pending, SIGPIPE) == 1;
  }

  sigset_t sigpipe_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

auto Failure(int error) noexcept -> IoResult {
  if (error == EAGAIN || error == EWOULDBLOCK) {
    return {IoStatus::kWouldBlock, 0, 0};
  }
  return {IoStatus::kError, 0, error};
}

}  // namespace

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
      return Failure(errno);
    }
  }
}

auto WritePipe(int fd, std::string_view bytes) noexcept -> IoResult {
  if (bytes.empty()) {
    return {IoStatus::kBytes, 0, 0};
  }
  const SigpipeMute mute;
  for (;;) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count >= 0) {
      return {IoStatus::kBytes, static_cast<std::size_t>(count), 0};
    }
    if (errno == EPIPE) {
      mute.TakeAway();
      return Failure(EPIPE);
    }
    if (errno != EINTR) {
      return Failure(errno);
    }
  }
}

}  // namespace TURTLE_SERVER
