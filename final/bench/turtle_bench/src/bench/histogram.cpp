#include "bench/histogram.h"

#include <algorithm>
#include <cmath>

namespace TURTLE_SERVER {

// The largest value that is counted in that bucket.
constexpr auto Histogram::HighestOf(std::size_t index) noexcept -> std::uint64_t {
  constexpr std::size_t kPerDoubling = std::size_t{1} << kBucketBits;
  if (index < 2 * kPerDoubling) {
    return index;
  }
  const auto shift = static_cast<unsigned>(index >> kBucketBits) - 1;
  const std::uint64_t upper = index - (std::size_t{shift} << kBucketBits);
  return ((upper + 1) << shift) - 1;
}

Histogram::Histogram() : counts_(IndexOf(kMaxValue) + 1) {}

void Histogram::Merge(const Histogram& other) noexcept {
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    counts_[i] += other.counts_[i];
  }
  count_ += other.count_;
  sum_ += other.sum_;
  max_ = std::max(max_, other.max_);
}

auto Histogram::Mean() const noexcept -> double {
  return count_ == 0 ? 0 : sum_ / static_cast<double>(count_);
}

auto Histogram::ValueAt(double percent) const noexcept -> std::uint64_t {
  // 99.9 % of 1000 is 999, though in binary it is a little more.
  constexpr double kRounding = 1e-6;
  const double wanted = std::ceil(percent / 100 * static_cast<double>(count_) - kRounding);
  const std::uint64_t rank = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(wanted));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    seen += counts_[i];
    if (seen >= rank) {
      return i + 1 == counts_.size() ? max_ : std::min(HighestOf(i), max_);
    }
  }
  return max_;
}

}  // namespace TURTLE_SERVER
