// How many, lately: a count that forgets.
//
// Time is cut into slices, counted from the clock's epoch on. The count of now is that of the slice
// in which now is and of the slices before it, so many in all.
//
// Thread: one writes, any reads, and neither ever waits.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace TURTLE_SERVER {

/// A count of the last slices of time.
class RecentCount {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// @param slice how long one is, at least 1 ms
  /// @param slices how many count, at least 1
  /// @throws std::invalid_argument "slice 0 ms: at least 1", "0 slices: at least 1"
  RecentCount(std::chrono::milliseconds slice, std::size_t slices);

  RecentCount(const RecentCount&) = delete;
  auto operator=(const RecentCount&) -> RecentCount& = delete;
  ~RecentCount() = default;

  /// Counts. The writer only, and its `now` never goes back. Allocates nothing.
  void Add(TimePoint now, std::uint64_t count) noexcept;

  /// The sum of the slices that end with the one of `now`. Any thread. Whole: what was counted in a
  /// slice that has ended is in it, or, where the writer is so far ahead of `now` that it has
  /// forgotten the slice, not at all.
  [[nodiscard]] auto Sum(TimePoint now) const noexcept -> std::uint64_t;
};

}  // namespace TURTLE_SERVER
