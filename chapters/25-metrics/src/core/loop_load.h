// How busy a loop is, kept by the loop and read from anywhere.
//
// Interface:
//  * EndWait() and BeginWait() are the two moments of a round: the loop says when it goes to sleep,
//    and when it has woken.
//  * Read() says how long it has done either so far, the round that goes on included.
//
// A loop is busy or waits, so of all the time since the beginning only one sum has to be known: the
// other is the rest. While it waits, that is the time that it was busy; while it is busy, the time
// that it has waited. The sum, and which of the two it is, are one number and change at once. The
// loop stores it without a lock, and a reader adds the round under way.
//
// A reader may be a moment ahead of the loop, which has asked for the time and not yet stored it.
// So readers remember what they have reported, and never report less: Prometheus would take that
// for a restart.
//
// Thread: the loop's, but for Read(), which is any thread's.
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
  /// So long the round goes on that is not over: a callback that does not return keeps it there.
  /// 0: it waits.
  Clock::duration round{};
  std::uint64_t rounds = 0;  ///< were begun
};

/// The account of one loop.
class alignas(kCacheLine) LoopLoad {
 public:
  /// @param clock the loop's; called on readers' threads as well
  explicit LoopLoad(ClockSource clock);

  /// The loop goes to sleep. Repeated, nothing happens.
  void BeginWait(TimePoint now) noexcept;

  /// It has woken: a round begins. Repeated, nothing happens.
  void EndWait(TimePoint now) noexcept;

  /// How it has spent its time until now. Any thread.
  [[nodiscard]] auto Read() const -> LoopTimes;

 private:
  using Rep = Clock::rep;  // time since began_

  [[nodiscard]] auto SinceBegan(TimePoint now) const noexcept -> Rep {
    return (now - began_).count();
  }

  const ClockSource clock_;  // const after construction
  const TimePoint began_;

  // The loop's thread writes, any reads.
  std::atomic<Rep> account_{0};       // time waited if below 0, as ~time; else busy
  std::atomic<Rep> round_began_{-1};  // -1: it waits
  Counter rounds_;

  // The readers'.
  alignas(kCacheLine) mutable Mutex mutex_;
  mutable LoopTimes told_ TURTLE_GUARDED_BY(mutex_);
};

}  // namespace TURTLE_SERVER
