// The clock that deadlines are measured with, and delays that can be added to its time.
//
// It is a steady clock: a wall clock jumps when NTP or an administrator corrects it, and a deadline
// must not jump.
//
// Interface: Bounded() caps a delay at kForever. A delay that means "never", such as
// std::chrono::milliseconds::max(), would overflow, and its deadline would be in the past.
//
// Thread: any; pure functions.
#pragma once

#include <chrono>
#include <functional>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Monotonic, clock_gettime(2) CLOCK_MONOTONIC on Linux.
using Clock = std::chrono::steady_clock;

/// A point in time on that clock.
using TimePoint = Clock::time_point;

/// Returns the current time. Tests pass their own source and advance it by hand.
using ClockSource = std::function<TimePoint()>;

/// Longer than any wait, and short enough to be added to any time.
constexpr std::chrono::hours kForever{24 * 365 * 100};

/// Caps a delay.
/// @param delay in any unit
/// @return `delay`, or kForever if that is shorter
template <typename Rep, typename Period>
[[nodiscard]] constexpr auto Bounded(std::chrono::duration<Rep, Period> delay) noexcept {
  using Delay = std::chrono::duration<Rep, Period>;
  return delay < kForever ? delay : std::chrono::duration_cast<Delay>(kForever);
}

}  // namespace TURTLE_SERVER
