#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "bench/histogram.h"

namespace TURTLE_SERVER {
namespace {

// The value that the histogram should give, computed from a sorted list.
auto Reference(const std::vector<std::uint64_t>& sorted, double percent) -> std::uint64_t {
  const double rank = std::ceil(percent / 100 * static_cast<double>(sorted.size()) - 1e-6);
  return sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

void ExpectLike(const Histogram& histogram, std::vector<std::uint64_t> values) {
  std::sort(values.begin(), values.end());
  ASSERT_EQ(histogram.Count(), values.size());
  EXPECT_EQ(histogram.Max(), values.back());
  for (const double percent : {0.0, 0.1, 1.0, 25.0, 50.0, 75.0, 90.0, 99.0, 99.9, 99.99, 100.0}) {
    const std::uint64_t right = Reference(values, percent);
    const std::uint64_t got = histogram.ValueAt(percent);
    EXPECT_GE(got, right) << percent;
    EXPECT_LE(got, right + right / 1000) << percent;
  }
}

TEST(HistogramTest, EmptyIsZero) {
  const Histogram histogram;
  EXPECT_EQ(histogram.Count(), 0U);
  EXPECT_EQ(histogram.Max(), 0U);
  EXPECT_EQ(histogram.Mean(), 0);
  EXPECT_EQ(histogram.ValueAt(50), 0U);
  EXPECT_EQ(histogram.ValueAt(100), 0U);
}

TEST(HistogramTest, SmallValuesAreExact) {
  Histogram histogram;
  for (std::uint64_t value = 0; value < 2048; ++value) {
    histogram.Record(value);
  }
  EXPECT_EQ(histogram.ValueAt(50), 1023U);
  EXPECT_EQ(histogram.ValueAt(100), 2047U);
  EXPECT_DOUBLE_EQ(histogram.Mean(), 1023.5);
}

TEST(HistogramTest, OneValueIsExactWhateverItsSize) {
  for (std::uint64_t value = 1; value < Histogram::kMaxValue; value = value * 3 + 1) {
    Histogram histogram;
    histogram.Record(value);
    EXPECT_EQ(histogram.ValueAt(0), value);
    EXPECT_EQ(histogram.ValueAt(50), value);
    EXPECT_EQ(histogram.ValueAt(100), value);
  }
}

TEST(HistogramTest, EveryValueIsKnownToAThousandth) {
  for (unsigned bit = 0; bit < 42; ++bit) {
    const std::uint64_t power = std::uint64_t{1} << bit;
    for (const std::uint64_t value : {power - 1, power, power + power / 3, 2 * power - 1}) {
      Histogram histogram;
      histogram.Record(value);
      histogram.Record(Histogram::kMaxValue);  // else the maximum would be taken for exact
      const std::uint64_t got = histogram.ValueAt(50);
      EXPECT_GE(got, value);
      EXPECT_LE(got - value, value / 1000) << value;
    }
  }
}

TEST(HistogramTest, AgreesWithASortedList) {
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> values;
  Histogram histogram;
  std::lognormal_distribution<double> latencies(11, 2);  // around 60 us, with a long tail
  for (int i = 0; i < 20000; ++i) {
    values.push_back(static_cast<std::uint64_t>(latencies(random)));
    histogram.Record(values.back());
  }
  ExpectLike(histogram, values);
  double sum = 0;
  for (const std::uint64_t value : values) {
    sum += static_cast<double>(value);
  }
  EXPECT_NEAR(histogram.Mean(), sum / 20000, 1e-3);
}

TEST(HistogramTest, SmallCountsHaveTheirRank) {
  for (std::size_t count = 1; count <= 40; ++count) {
    std::vector<std::uint64_t> values;
    Histogram histogram;
    for (std::size_t i = 1; i <= count; ++i) {
      values.push_back(i * 37);
      histogram.Record(values.back());
    }
    ExpectLike(histogram, values);
  }
}

TEST(HistogramTest, MergingIsRecordingBoth) {
  std::mt19937_64 random(2);
  std::vector<std::uint64_t> values;
  Histogram parts[3];
  for (int i = 0; i < 9000; ++i) {
    values.push_back(random() >> (20 + random() % 40));
    values.back() = std::min(values.back(), Histogram::kMaxValue - 1);
    parts[i % 3].Record(values.back());
  }
  Histogram whole;
  for (const Histogram& part : parts) {
    whole.Merge(part);
  }
  ExpectLike(whole, values);
}

TEST(HistogramTest, ValuesBeyondTheRangeAreKeptInMaximumAndMean) {
  Histogram histogram;
  histogram.Record(Histogram::kMaxValue * 4);
  histogram.Record(0);
  EXPECT_EQ(histogram.Max(), Histogram::kMaxValue * 4);
  EXPECT_EQ(histogram.ValueAt(100), Histogram::kMaxValue * 4);
  EXPECT_DOUBLE_EQ(histogram.Mean(), static_cast<double>(Histogram::kMaxValue) * 2);
}

}  // namespace
}  // namespace TURTLE_SERVER
