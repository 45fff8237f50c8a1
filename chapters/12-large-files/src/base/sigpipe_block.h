// Keeps SIGPIPE away from one thread for the length of a call.
//
// send(2) can be told not to raise the signal. write(2) and sendfile(2) can't, and what a process
// does with a signal is not for a library to change. So the signal is blocked in this thread, and
// what the call has raised is taken away before it is let through again.
//
// Interface:
//  * A SigpipeBlock blocks the signal for as long as it lives.
//  * TakeAway() is called when the call has failed, or has fallen short: sendfile(2) may meet the
//    broken connection in the middle, and then it raises the signal and says how far it came.
//  * IgnoreSigpipe() is for a program that owns the whole process: then a block makes no system
//    calls, of which it needs two.
//
// Thread: a SigpipeBlock belongs to the thread that made it; IgnoreSigpipe() from any.
#pragma once

#include <signal.h>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Ignores SIGPIPE in the whole process, from now on. execve(2) passes that on: what starts a
/// program has to set the signal back in the child.
void IgnoreSigpipe() noexcept;

/// SIGPIPE is blocked in this thread while it lives.
class SigpipeBlock {
 public:
  SigpipeBlock() noexcept;

  /// Puts the thread's mask back. Keeps errno.
  ~SigpipeBlock();

  SigpipeBlock(const SigpipeBlock&) = delete;
  auto operator=(const SigpipeBlock&) -> SigpipeBlock& = delete;

  /// Takes away a signal that has been raised meanwhile, and leaves one that was there before.
  /// Keeps errno.
  void TakeAway() const noexcept;

 private:
  const bool needed_;
  sigset_t sigpipe_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

}  // namespace TURTLE_SERVER
