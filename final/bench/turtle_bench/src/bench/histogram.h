// Counts latencies, with three significant digits and in constant memory.
//
// A list of all latencies would grow with the run, and an average hides the one request in a
// thousand that took a hundred times as long. A histogram with buckets that grow with the value
// (HDR, high dynamic range) does neither. Between 2^n and 2^(n+1) there are always 1024 buckets, so
// a value is known to within a thousandth of itself, from a nanosecond to an hour.
//
// Interface:
//  * Record() counts a value: a shift and an increment.
//  * Merge() adds another histogram, of another thread say.
//  * ValueAt() returns a percentile; Mean() and Max() are exact.
//
// Thread: one at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Counts of values from 0 to kMaxValue, to three significant digits.
class Histogram {
 public:
  /// The largest value that is distinguished, in nanoseconds 73 minutes; larger ones are counted as
  /// this one, except in Max() and Mean().
  static constexpr std::uint64_t kMaxValue = (std::uint64_t{1} << 42) - 1;

  /// Empty; takes 264 KiB. Throws std::bad_alloc.
  Histogram();

  /// Counts a value, once or more.
  void Record(std::uint64_t value, std::uint64_t times = 1) noexcept {
    counts_[IndexOf(value < kMaxValue ? value : kMaxValue)] += times;
    count_ += times;
    sum_ += static_cast<double>(value) * static_cast<double>(times);
    max_ = value > max_ ? value : max_;
  }

  /// Counts a duration in nanoseconds; a negative one as 0.
  void Record(Clock::duration duration, std::uint64_t times = 1) noexcept {
    const auto count = std::chrono::nanoseconds(duration).count();
    Record(count < 0 ? 0 : static_cast<std::uint64_t>(count), times);
  }

  /// Adds the counts of another histogram.
  void Merge(const Histogram& other) noexcept;

  /// Returns how many values were counted.
  [[nodiscard]] auto Count() const noexcept -> std::uint64_t { return count_; }

  /// Returns the largest value, exactly; 0 if there is none.
  [[nodiscard]] auto Max() const noexcept -> std::uint64_t { return max_; }

  /// Returns the average of the values; 0 if there is none.
  [[nodiscard]] auto Mean() const noexcept -> double;

  /// Returns the smallest value that `percent` of all values do not exceed, rounded up by at most a
  /// thousandth, and never above Max(); 0 if there is none.
  /// @param percent from 0 to 100
  [[nodiscard]] auto ValueAt(double percent) const noexcept -> std::uint64_t;

 private:
  static constexpr unsigned kBucketBits = 10;  // 1024 buckets for each doubling
  static constexpr unsigned kValueBits = 42;

  // Values below 2048 have a bucket each; above, the bits below the upper eleven are dropped.
  static constexpr auto ShiftOf(std::uint64_t value) noexcept -> unsigned {
    constexpr unsigned kFirst = std::uint64_t{1} << (kBucketBits + 1);
    const auto width = 64U - static_cast<unsigned>(__builtin_clzll(value | (kFirst - 1)));
    return width - (kBucketBits + 1);
  }
  static constexpr auto IndexOf(std::uint64_t value) noexcept -> std::size_t {
    const unsigned shift = ShiftOf(value);
    return (std::size_t{shift} << kBucketBits) + static_cast<std::size_t>(value >> shift);
  }
  static constexpr auto HighestOf(std::size_t index) noexcept -> std::uint64_t;

  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0;
  double sum_ = 0;
  std::uint64_t max_ = 0;
};

}  // namespace TURTLE_SERVER
