// Timers in a wheel: arming, moving and disarming one costs a few stores, however many there are.
//
// Interface:
//  * A WheelTimer is a task that can be armed; its owner may end it at any time.
//  * Arm() and Disarm() one, RunDue() runs those whose time has come.
//
// Time is cut into ticks, counted from the wheel's beginning. A timer is in the slot of its tick,
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

/// A task that a TimerWheel runs. It is in a wheel while it is armed, and leaves it when it goes.
class WheelTimer {
 public:
  /// @param task must not throw; may arm, disarm and end any timer, its own included
  explicit WheelTimer(Task task) : task_(std::make_shared<const Task>(std::move(task))) {}

  WheelTimer(const WheelTimer&) = delete;
  auto operator=(const WheelTimer&) -> WheelTimer& = delete;

  /// Disarms it.
  ~WheelTimer() = default;  // TODO

  /// Is it to run?
  [[nodiscard]] auto Armed() const noexcept -> bool { return false; }  // TODO

 private:
  friend class TimerWheel;

  std::shared_ptr<const Task> task_;
};

/// Armed timers, by the time at which they are due.
class TimerWheel {
 public:
  static constexpr std::size_t kSlots = 512;

  /// @param now where the first tick begins
  /// @param tick how exact it is; more than zero
  TimerWheel(TimePoint now, Clock::duration tick);

  /// Disarms all.
  ~TimerWheel() = default;  // TODO

  TimerWheel(const TimerWheel&) = delete;
  auto operator=(const TimerWheel&) -> TimerWheel& = delete;

  /// Lets `timer` run at `when`, and at no other time that it had. TimePoint::max() is never; a
  /// time that has passed is due in the next RunDue().
  void Arm(WheelTimer& timer, TimePoint when) noexcept;

  /// Lets it not run. Repeated, nothing happens.
  void Disarm(WheelTimer& timer) noexcept;

  /// Runs what is due at `now`, which never goes back.
  /// @return how many ran
  auto RunDue(TimePoint now) -> std::size_t;
};

}  // namespace TURTLE_SERVER
