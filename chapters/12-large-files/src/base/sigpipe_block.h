// Keeps SIGPIPE away from one thread for the duration of a call.
//
// send(2) has a flag that suppresses the signal. write(2) and sendfile(2) have none, and a library
// must not change how the process handles a signal. So the thread blocks the signal during the
// call, and discards a SIGPIPE that the call raised before it unblocks the signal.
//
// Interface:
//  * A SigpipeBlock blocks the signal for as long as it lives.
//  * TakeAway() is called when the call has failed or fallen short: sendfile(2) may meet the broken
//    connection half-way, and then raises the signal and still returns what it has sent.
//  * IgnoreSigpipe() is for a program that owns the whole process: it saves each block its two
//    system calls.
//
// Thread: a SigpipeBlock belongs to the thread that made it; any thread may call IgnoreSigpipe().
#pragma once

#include <signal.h>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Ignores SIGPIPE in the whole process, from now on. execve(2) passes that on: code that starts a
/// program has to reset the signal in the child.
void IgnoreSigpipe() noexcept;

/// Blocks SIGPIPE in this thread for as long as it lives.
class SigpipeBlock {
 public:
  SigpipeBlock() noexcept;

  /// Restores the thread's mask. Keeps errno.
  ~SigpipeBlock();

  SigpipeBlock(const SigpipeBlock&) = delete;
  auto operator=(const SigpipeBlock&) -> SigpipeBlock& = delete;

  /// Discards a signal that was raised in the meantime, and leaves one that was pending before.
  /// Keeps errno.
  void TakeAway() const noexcept;

 private:
  const bool needed_;
  sigset_t sigpipe_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

}  // namespace TURTLE_SERVER
