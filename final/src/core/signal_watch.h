// Delivers signals as events on a loop.
//
// A signal handler may do next to nothing (signal-safety(7)): no lock, no allocation, no log. So
// ours records the number and wakes the loop, which does the work between two rounds.
//
// Interface:
//  * SignalWatch calls back on the loop's thread for each of its signals.
//  * Its destructor restores the former handling of the signals.
//
// signalfd(2) would need the signals blocked in every thread, even the user's, and exists on Linux
// alone.
//
// Thread: made and destroyed where Looper::Watch() may be called: on the loop's thread, or before
// it runs. The signals may arrive on any thread.
#pragma once

#include <csignal>
#include <functional>
#include <memory>
#include <vector>

#include "core/looper.h"
#include "core/wakeup.h"

namespace TURTLE_SERVER {

/// Called on the loop's thread with the number of the signal.
using SignalCallback = std::function<void(int)>;

/// Delivers some signals to a loop for as long as it lives.
class SignalWatch {
 public:
  /// Takes over the signals. A signal that comes several times before the loop handles it is
  /// delivered once, as it is by the kernel.
  /// @param looper the loop; outlives this object.
  /// @param signals such as {SIGINT, SIGTERM}; not those that report a fault, such as SIGSEGV.
  /// @param callback called for each signal; may destroy this SignalWatch.
  /// @throws std::logic_error if another SignalWatch has one of the signals.
  /// @throws std::system_error if a signal can't be caught, like SIGKILL; then nothing has changed.
  SignalWatch(Looper& looper, const std::vector<int>& signals, SignalCallback callback);

  SignalWatch(const SignalWatch&) = delete;                     ///< The handler knows its address.
  auto operator=(const SignalWatch&) -> SignalWatch& = delete;  ///< As above.

  /// Restores the former handling; undelivered signals are dropped.
  ~SignalWatch();

 private:
  struct Taken {
    int number;
    struct sigaction before;
  };

  void Take(int number);
  void GiveBack() noexcept;
  void Deliver();

  Looper& looper_;
  Wakeup wakeup_;
  std::shared_ptr<const SignalCallback>
      callback_;  // shared with its call, which we may not outlive
  std::vector<Taken> taken_;
  WatchId watch_{};
};

}  // namespace TURTLE_SERVER
