#include "web/quantile.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace TURTLE_SERVER {
namespace {

auto Refusal(const std::vector<double>& bounds, const std::vector<std::uint64_t>& counts, double q)
    -> std::string {
  try {
    static_cast<void>(Quantile(bounds, counts, q));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

const std::vector<double> kBounds = {1, 2, 4, 8};

TEST(QuantileTest, WithinABucketTheyAreSpreadEvenly) {
  const std::vector<std::uint64_t> counts = {10, 20, 40, 30, 0};
  EXPECT_DOUBLE_EQ(Quantile(kBounds, counts, 0.05), 0.5);
  EXPECT_DOUBLE_EQ(Quantile(kBounds, counts, 0.2), 1.5);
  EXPECT_DOUBLE_EQ(Quantile(kBounds, counts, 0.5), 3);
  EXPECT_DOUBLE_EQ(Quantile(kBounds, counts, 0.85), 6);
}

TEST(QuantileTest, AtTheEdgeOfABucketItIsTheBound) {
  const std::vector<std::uint64_t> counts = {10, 20, 40, 30, 0};
  EXPECT_DOUBLE_EQ(Quantile(kBounds, counts, 0.1), 1);
  EXPECT_DOUBLE_EQ(Quantile(kBounds, counts, 0.3), 2);
  EXPECT_DOUBLE_EQ(Quantile(kBounds, counts, 1), 8);
}

TEST(QuantileTest, EmptyBucketsHoldNoQuantile) {
  const std::vector<std::uint64_t> counts = {0, 10, 0, 10, 0};
  EXPECT_DOUBLE_EQ(Quantile(kBounds, counts, 0), 1) << "where the first that has any begins";
  EXPECT_DOUBLE_EQ(Quantile(kBounds, counts, 0.5), 2);
  EXPECT_DOUBLE_EQ(Quantile(kBounds, counts, 0.75), 6);
  EXPECT_DOUBLE_EQ(Quantile(kBounds, counts, 1), 8);
}

TEST(QuantileTest, AboveAllBoundsItIsTheGreatest) {
  EXPECT_DOUBLE_EQ(Quantile(kBounds, {1, 0, 0, 0, 9}, 0.5), 8);
  EXPECT_DOUBLE_EQ(Quantile(kBounds, {0, 0, 0, 0, 9}, 0), 8);
  EXPECT_DOUBLE_EQ(Quantile(kBounds, {1, 0, 0, 0, 9}, 0.1), 1);
}

TEST(QuantileTest, OneBucketAndManyMeasurements) {
  EXPECT_DOUBLE_EQ(Quantile({10}, {3'000'000'000'000, 1'000'000'000'000}, 0.375), 5);
}

TEST(QuantileTest, NothingMeasuredIsNoNumber) {
  EXPECT_TRUE(std::isnan(Quantile(kBounds, {0, 0, 0, 0, 0}, 0.5)));
}

TEST(QuantileTest, Refusals) {
  EXPECT_EQ(Refusal(kBounds, {0, 0, 0, 0, 1}, 1.5), "quantile 1.5: not in 0..1");
  EXPECT_EQ(Refusal(kBounds, {0, 0, 0, 0, 1}, -0.1), "quantile -0.1: not in 0..1");
  EXPECT_NE(Refusal(kBounds, {0, 0, 0, 0, 1}, std::numeric_limits<double>::quiet_NaN()), "");
  EXPECT_EQ(Refusal(kBounds, {1, 2, 3}, 0.5), "3 counts for 4 bounds");
  EXPECT_EQ(Refusal({}, {1}, 0.5), "1 counts for 0 bounds");
}

}  // namespace
}  // namespace TURTLE_SERVER
