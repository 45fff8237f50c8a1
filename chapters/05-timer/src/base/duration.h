// Delays that can be added to a time.
//
// Interface: Bounded() cuts a delay to kForever. One that means "never", such as
// std::chrono::milliseconds::max(), would overflow, and its deadline would be in the past.
//
// Thread: pure functions.
#pragma once

#include <chrono>

#include "base/namespace.h"

namespace TURTLE_SERVER {

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
