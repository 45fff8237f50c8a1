#include "base/sigpipe_block.h"

#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>

namespace TURTLE_SERVER {

namespace {

std::atomic<bool> ignored{false};

auto IsPending() noexcept -> bool {
  sigset_t pending;
  sigemptyset(&pending);
  sigpending(&pending);
  return sigismember(&pending, SIGPIPE) == 1;
}

#ifdef MSG_NOSIGNAL
constexpr int kFlags = MSG_DONTWAIT | MSG_NOSIGNAL;
#else
constexpr int kFlags = MSG_DONTWAIT;
#endif

template <class Call>
auto Quietly(std::size_t size, Call call) noexcept -> ssize_t {
  const SigpipeBlock block;
  ssize_t count = 0;
  do {
    count = call();
  } while (count < 0 && errno == EINTR);
  if (count != static_cast<ssize_t>(size)) {  // a part, too: the reader may have left
    block.TakeAway();
  }
  return count;
}

}  // namespace

void IgnoreSigpipe() noexcept {
  struct sigaction action {};
  action.sa_handler = SIG_IGN;
  sigemptyset(&action.sa_mask);
  if (sigaction(SIGPIPE, &action, nullptr) == 0) {
    ignored.store(true, std::memory_order_relaxed);
  }
}

SigpipeBlock::SigpipeBlock() noexcept : needed_(!ignored.load(std::memory_order_relaxed)) {
  if (!needed_) {
    return;
  }
  sigemptyset(&sigpipe_);
  sigaddset(&sigpipe_, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &sigpipe_, &before_);
  // Only a thread that blocks the signal itself can have one pending.
  was_pending_ = sigismember(&before_, SIGPIPE) == 1 && IsPending();
}

SigpipeBlock::~SigpipeBlock() {
  if (needed_) {
    const int error = errno;
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }
}

void SigpipeBlock::TakeAway() const noexcept {
  const int error = errno;
  if (needed_ && !was_pending_ && IsPending()) {
    int number = 0;
    sigwait(&sigpipe_, &number);
  }
  errno = error;
}

auto QuietWrite(int fd, std::string_view bytes) noexcept -> ssize_t {
  return Quietly(bytes.size(), [=] { return write(fd, bytes.data(), bytes.size()); });
}

auto QuietSend(int socket, std::string_view bytes) noexcept -> ssize_t {
  return Quietly(bytes.size(), [=] { return send(socket, bytes.data(), bytes.size(), kFlags); });
}

}  // namespace TURTLE_SERVER
