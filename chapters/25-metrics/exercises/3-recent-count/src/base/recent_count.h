// Counts recent events, and forgets older ones.
//
// Time is divided into slices, counted from the clock's epoch. The current count covers the present
// slice and the ones before it, a fixed number in total.
//
// Thread: one writes, any may read, and neither ever waits.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace TURTLE_SERVER {

/// Counts the events of the last slices of time.
class RecentCount {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// @param slice the length of one, at least 1 ms
  /// @param slices how many count, at least 1
  /// @throws std::invalid_argument "slice 0 ms: at least 1", "0 slices: at least 1"
  RecentCount(std::chrono::milliseconds slice, std::size_t slices);

  RecentCount(const RecentCount&) = delete;
  auto operator=(const RecentCount&) -> RecentCount& = delete;
  ~RecentCount() = default;

  /// Counts events. The writer only, with a `now` that never goes back. Allocates nothing.
  void Add(TimePoint now, std::uint64_t count) noexcept;

  /// Returns the sum of the slices up to that of `now`. Any thread. A finished slice is included
  /// completely, or, if the writer is so far ahead of `now` that it has forgotten the slice, not at
  /// all.
  [[nodiscard]] auto Sum(TimePoint now) const noexcept -> std::uint64_t;
};

}  // namespace TURTLE_SERVER
