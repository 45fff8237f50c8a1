// Signals as events on a loop.
//
// A signal handler may do next to nothing (signal-safety(7)): no lock, no allocation, no log. So
// ours notes the number and wakes the loop; the work is done there, between two rounds.
//
// Interface:
//  * SignalWatch calls back on the loop's thread for each of its signals.
//  * Its destructor gives the signals their former handling back.
//
// signalfd(2) would need the signals blocked in every thread, those of the user's program too, and
// exists on Linux alone.
//
// Thread: made and destroyed where Looper::Watch() may be called: on the loop's thread, or before
// it runs. The signals may hit any thread.
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

/// Delivers some signals to a loop as long as it lives.
class SignalWatch {
 public:
  /// Takes over the signals. A signal that comes several times before the loop gets to it is
  /// delivered once, as the kernel does it too.
  /// @param looper outlives this object.
  /// @param signals such as {SIGINT, SIGTERM}; not those that report a fault, such as SIGSEGV.
  /// @param callback may destroy this SignalWatch.
  /// @throws std::logic_error if another SignalWatch has one of the signals.
  /// @throws std::system_error if a signal can't be caught, like SIGKILL; nothing is changed then.
  SignalWatch(Looper& looper, const std::vector<int>& signals, SignalCallback callback);

  SignalWatch(const SignalWatch&) = delete;                     ///< The handler knows its address.
  auto operator=(const SignalWatch&) -> SignalWatch& = delete;  ///< As above.

  /// The signals are handled as before; undelivered ones are forgotten.
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
