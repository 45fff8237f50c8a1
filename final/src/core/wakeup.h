// Wakes a loop that sleeps in its poller, by a descriptor that becomes readable.
//
// Interface:
//  * Signal() makes Fd() readable; a hundred calls are one wake-up.
//  * Clear() makes Fd() unreadable again.
//
// On Linux this is an eventfd(2), elsewhere a pipe with both ends non-blocking.
//
// Thread: Signal() from any thread and from a signal handler; Clear() on the loop's thread.
#pragma once

#include "base/unique_fd.h"

namespace TURTLE_SERVER {

/// A descriptor that another thread, or a signal handler, can make readable.
class Wakeup {
 public:
  /// Opens the descriptors. Throws std::system_error if the process is out of them.
  Wakeup();

  /// Returns the descriptor to watch for input, borrowed.
  [[nodiscard]] auto Fd() const noexcept -> int { return read_end_.Get(); }

  /// Makes Fd() readable until the next Clear(). Async-signal-safe; leaves errno alone.
  void Signal() noexcept;

  /// Takes back all signals so far.
  void Clear() noexcept;

 private:
  UniqueFd read_end_;
  UniqueFd write_end_;  // none where one descriptor is both ends
};

}  // namespace TURTLE_SERVER
