#include "log/quiet_write.h"

#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace TURTLE_SERVER {

namespace {

#ifdef MSG_NOSIGNAL
constexpr int kFlags = MSG_DONTWAIT | MSG_NOSIGNAL;
#else
constexpr int kFlags = MSG_DONTWAIT;
#endif

auto IsPending() noexcept -> bool {
  sigset_t pending;
  sigemptyset(&pending);
  sigpending(&pending);
  return sigismember(&pending, SIGPIPE) == 1;
}

template <class Call>
auto Quietly(std::size_t size, Call call) noexcept -> ssize_t {
  sigset_t sigpipe;
  sigset_t before;
  sigemptyset(&sigpipe);
  sigaddset(&sigpipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &sigpipe, &before);
  // Only a thread that has blocked the signal itself can have one waiting: that one stays.
  const bool was_pending = sigismember(&before, SIGPIPE) == 1 && IsPending();
  ssize_t count = 0;
  do {
    count = call();
  } while (count < 0 && errno == EINTR);
  const int error = errno;
  // Also after a part: the reader may have gone in the middle.
  if (count != static_cast<ssize_t>(size) && !was_pending && IsPending()) {
    int number = 0;
    sigwait(&sigpipe, &number);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return count;
}

}  // namespace

auto QuietWrite(int fd, std::string_view bytes) noexcept -> ssize_t {
  return Quietly(bytes.size(), [=] { return write(fd, bytes.data(), bytes.size()); });
}

auto QuietSend(int socket, std::string_view bytes) noexcept -> ssize_t {
  return Quietly(bytes.size(), [=] { return send(socket, bytes.data(), bytes.size(), kFlags); });
}

}  // namespace TURTLE_SERVER
