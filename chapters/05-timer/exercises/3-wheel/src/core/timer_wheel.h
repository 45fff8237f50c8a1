// Timers in a wheel: arming, moving and disarming one costs a few stores, whatever their number.
//
// Interface:
//  * A WheelTimer is a task that can be armed; its owner may destroy it at any time.
//  * Arm() and Disarm() one; RunDue() runs the due ones.
//
// Time is divided into ticks, counted from the wheel's start. A timer is in the slot of its tick,
// modulo the number of slots.
//
// Thread: one at a time, the loop's.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "base/clock.h"
#include "core/timer_queue.h"

namespace TURTLE_SERVER {

class TimerWheel;

/// A task for a TimerWheel. It is in a wheel while it is armed; destroying it removes it.
class WheelTimer {
 public:
  /// @param task must not throw; may arm, disarm and destroy any timer, including its own
  explicit WheelTimer(Task task) : task_(std::make_shared<const Task>(std::move(task))) {}

  WheelTimer(const WheelTimer&) = delete;
  auto operator=(const WheelTimer&) -> WheelTimer& = delete;

  /// Disarms it.
  ~WheelTimer() = default;  // TODO

  /// Returns true if it is armed.
  [[nodiscard]] auto Armed() const noexcept -> bool { return false; }  // TODO

 private:
  friend class TimerWheel;

  std::shared_ptr<const Task> task_;
};

/// Armed timers, by the time at which they are due.
class TimerWheel {
 public:
  static constexpr std::size_t kSlots = 512;

  /// @param now the start of the first tick
  /// @param tick the resolution; more than zero
  TimerWheel(TimePoint now, Clock::duration tick);

  /// Disarms all timers.
  ~TimerWheel() = default;  // TODO

  TimerWheel(const TimerWheel&) = delete;
  auto operator=(const TimerWheel&) -> TimerWheel& = delete;

  /// Lets `timer` run at `when` only, replacing any earlier time. TimePoint::max() is never; a time
  /// in the past is due in the next RunDue().
  void Arm(WheelTimer& timer, TimePoint when) noexcept;

  /// Removes it from the wheel. A second call does nothing.
  void Disarm(WheelTimer& timer) noexcept;

  /// Runs the timers due at `now`, which never goes back.
  /// @return how many ran
  auto RunDue(TimePoint now) -> std::size_t;
};

}  // namespace TURTLE_SERVER
