// How busy a loop is, kept by the loop and read from anywhere.
//
// Interface:
//  * EndWait() and BeginWait() mark the two moments of a round: the loop calls them when it wakes
//    and when it goes to sleep.
//  * Read() returns how long it has been busy and has waited so far, the current round included.
//
// A loop either is busy or waits, so one sum of the two is enough: the other is the rest of the
// time since the beginning. While the loop waits, the sum is its busy time; while it is busy, its
// waiting time. The sum, and which of the two it is, are one number, so they change at once. The
// loop stores it without a lock, and a reader adds the current round.
//
// A reader may be slightly ahead of the loop, which has read the clock but not yet stored the time.
// So readers remember what they have reported, and never report less: Prometheus would take that
// for a restart.
//
// Thread: the loop's, except Read(), which any thread may call.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"
#include "base/counter.h"
#include "base/mutex.h"

namespace TURTLE_SERVER {

/// How a loop has spent its time.
struct LoopTimes {
  Clock::duration busy{};    ///< in callbacks, and between them
  Clock::duration waited{};  ///< for events; the time before it ran and after its end, too
  /// The duration so far of the current round: it keeps growing while a callback does not return.
  /// 0: the loop waits.
  Clock::duration round{};
  std::uint64_t rounds = 0;  ///< the rounds begun so far
};

/// Keeps the account of one loop.
class alignas(kCacheLine) LoopLoad {
 public:
  /// @param clock the loop's clock; also called on readers' threads
  explicit LoopLoad(ClockSource clock);

  /// Notes that the loop goes to sleep. Repeated, nothing happens.
  void BeginWait(TimePoint now) noexcept;

  /// Notes that the loop has woken and a round begins. Repeated, nothing happens.
  void EndWait(TimePoint now) noexcept;

  /// Returns how the loop has spent its time until now. Any thread.
  [[nodiscard]] auto Read() const -> LoopTimes;

 private:
  using Rep = Clock::rep;  // time since began_

  [[nodiscard]] auto SinceBegan(TimePoint now) const noexcept -> Rep {
    return (now - began_).count();
  }

  const ClockSource clock_;  // const after construction
  const TimePoint began_;

  // The loop's thread writes these, any thread reads them.
  std::atomic<Rep> account_{0};       // time waited if negative, as ~time; otherwise busy
  std::atomic<Rep> round_began_{-1};  // -1: it waits
  Counter rounds_;

  // Used by the readers.
  alignas(kCacheLine) mutable Mutex mutex_;
  mutable LoopTimes told_ TURTLE_GUARDED_BY(mutex_);
};

}  // namespace TURTLE_SERVER
