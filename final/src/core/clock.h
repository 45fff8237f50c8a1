// The time that deadlines are measured in.
//
// A steady clock: a wall clock jumps when NTP or an administrator corrects it, and a deadline
// must not.
//
// Thread: any.
#pragma once

#include <chrono>
#include <functional>

#include "base/duration.h"

namespace TURTLE_SERVER {

/// Monotonic, clock_gettime(2) CLOCK_MONOTONIC on Linux.
using Clock = std::chrono::steady_clock;

/// A moment on it.
using TimePoint = Clock::time_point;

/// Says what time it is. Tests pass one of their own and turn it by hand.
using ClockSource = std::function<TimePoint()>;

}  // namespace TURTLE_SERVER
