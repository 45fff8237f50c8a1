#include "base/sigpipe_block.h"

#include <atomic>
#include <cerrno>

namespace TURTLE_SERVER {

namespace {

std::atomic<bool> ignored{false};

auto IsPending() noexcept -> bool {
  sigset_t pending;
  sigemptyset(&pending);
  sigpending(&pending);
  return sigismember(&pending, SIGPIPE) == 1;
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

}  // namespace TURTLE_SERVER
