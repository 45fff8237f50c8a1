#include "core/sigpipe_block.h"

#include <cerrno>

namespace TURTLE_SERVER {

namespace {

auto IsPending() noexcept -> bool {
  sigset_t pending;
  sigemptyset(&pending);
  sigpending(&pending);
  return sigismember(&pending, SIGPIPE) == 1;
}

}  // namespace

SigpipeBlock::SigpipeBlock() noexcept {
  sigemptyset(&sigpipe_);
  sigaddset(&sigpipe_, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &sigpipe_, &before_);
  // Only a thread that has blocked the signal itself can have one waiting.
  was_pending_ = sigismember(&before_, SIGPIPE) == 1 && IsPending();
}

SigpipeBlock::~SigpipeBlock() {
  const int error = errno;
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  errno = error;
}

void SigpipeBlock::TakeAway() const noexcept {
  const int error = errno;
  if (!was_pending_ && IsPending()) {  // where the process ignores it, it never is
    int number = 0;
    sigwait(&sigpipe_, &number);
  }
  errno = error;
}

}  // namespace TURTLE_SERVER
