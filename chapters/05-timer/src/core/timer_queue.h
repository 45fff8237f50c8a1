// Timers for one Looper.
//
// Interface:
//  * Add() schedules a callback and returns an id; ids are never reused.
//  * Cancel() is harmless when repeated, or after the callback ran.
//  * The Looper sleeps until Next(), then calls RunDue().
//
// It never reads a clock: the caller passes the time, so a test can choose any time it likes.
//
// Thread: one at a time, the loop's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "base/clock.h"

namespace TURTLE_SERVER {

/// A task that runs once.
using Task = std::function<void()>;

/// Identifies a timer; ids are never reused.
struct TimerId {
  TimePoint when{};          ///< its deadline
  std::uint64_t number = 0;  ///< never reused; 0 is no timer

  /// True for the earlier deadline; equal deadlines keep the order in which they were added.
  friend auto operator<(const TimerId& a, const TimerId& b) noexcept -> bool {
    return a.when != b.when ? a.when < b.when : a.number < b.number;
  }
};

/// Callbacks, ordered by the time at which they are due.
class TimerQueue {
 public:
  /// Schedules a callback. If `when` is in the past, it runs in the next RunDue(), never in here.
  /// @param when the deadline
  /// @param callback must not throw
  /// @return the id to cancel it by
  auto Add(TimePoint when, Task callback) -> TimerId;

  /// Cancels a timer. @return false: unknown, cancelled before, or has run already.
  auto Cancel(TimerId id) -> bool;

  /// Returns when the Looper must wake up at the latest; nullopt: no timers.
  [[nodiscard]] auto Next() const -> std::optional<TimePoint>;

  /// Runs all callbacks due at `now`, oldest first. Callbacks may add and cancel any timer; new
  /// ones wait for the next call, so that a timer without delay can't starve the sockets.
  /// @return how many callbacks ran
  auto RunDue(TimePoint now) -> std::size_t;

 private:
  // Keyed by (deadline, number): clients accepted in the same tick each need their own timer.
  std::map<TimerId, Task> queue_;
  std::map<TimerId, Task> due_;  // being run; still here, so that one callback can cancel the next
  std::uint64_t last_number_ = 0;
};

}  // namespace TURTLE_SERVER
