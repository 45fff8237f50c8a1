// SendFile() over Linux's sendfile(2).
#ifdef __linux__

#include <pthread.h>
#include <signal.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <cerrno>
#include <ctime>

#include "core/send_file.h"
#include "core/socket_calls.h"

namespace TURTLE_SERVER {

namespace {

// Holds SIGPIPE back from this thread for the length of one sendfile(2), which raises it on a
// broken connection and, unlike send(2), cannot be told not to. Ignoring the signal once for the
// whole process would be cheaper, but that is the program's decision, and children inherit it.
class SigpipeGuard {
 public:
  SigpipeGuard() noexcept {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  SigpipeGuard(const SigpipeGuard&) = delete;
  auto operator=(const SigpipeGuard&) -> SigpipeGuard& = delete;
  ~SigpipeGuard() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  // Takes back the signal that a broken connection has raised. Where the program holds SIGPIPE
  // back anyway, a pending one may be its own, and is left.
  void Discard() const noexcept {
    if (sigismember(&before_, SIGPIPE) == 0) {
      constexpr timespec kNoWait{0, 0};
      while (sigtimedwait(&pipe_, nullptr, &kNoWait) < 0 && errno == EINTR) {
      }
    }
  }

 private:
  sigset_t pipe_{};
  sigset_t before_{};
};

}  // namespace

auto SendFlags(bool more_follows) noexcept -> int {
  return kNoSignal | (more_follows ? MSG_MORE : 0);
}

auto SendFile(int socket, int file, std::uint64_t offset, std::size_t count) -> IoResult {
  auto position = static_cast<off_t>(offset);
  ssize_t sent = 0;
  int error = 0;
  {
    const SigpipeGuard guard;
    do {
      sent = sendfile(socket, file, &position, count);
    } while (sent < 0 && errno == EINTR);
    error = errno;
    if (sent < 0 && error == EPIPE) {
      guard.Discard();
    }
  }
  if (sent > 0) {
    return {IoStatus::kBytes, static_cast<std::size_t>(sent), 0};
  }
  if (sent == 0) {
    return {IoStatus::kEnd, 0, 0};
  }
  if (error == EAGAIN) {
    return {IoStatus::kWouldBlock, 0, 0};
  }
  if (error == EINVAL || error == ENOSYS) {
    return CopyFile(socket, file, offset, count);
  }
  return {IoStatus::kError, 0, error};
}

}  // namespace TURTLE_SERVER

#endif  // __linux__
