// The time that deadlines are measured in, and delays that can be added to it.
//
// A steady clock: a wall clock jumps when NTP or an administrator corrects it, and a deadline
// must not.
//
// Interface: Bounded() cuts a delay to kForever. One that means "never", such as
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

/// A moment on it.
using TimePoint = Clock::time_point;

/// Says what time it is. Tests pass one of their own and turn it by hand.
using ClockSource = std::function<TimePoint()>;

/// Longer than anybody waits, and short enough to be added to any time.
constexpr std::chrono::hours kForever{24 * 365 * 100};

/// Limits a delay.
/// @param delay in any unit
/// @return the same, or kForever
template <typename Rep, typename Period>
[[nodiscard]] constexpr auto Bounded(std::chrono::duration<Rep, Period> delay) noexcept {
  using Delay = std::chrono::duration<Rep, Period>;
  return delay < kForever ? delay : std::chrono::duration_cast<Delay>(kForever);
}

}  // namespace TURTLE_SERVER
