// How much time bytes buy.
#include "core/min_rate.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>

namespace TURTLE_SERVER {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr MinRate kRate{500, seconds(30)};

// Returns how long a peer stays that moves `bytes` in every second; a minute counts as forever.
auto Stay(const MinRate& rate, std::uint64_t bytes) -> Clock::duration {
  Clock::duration passed = rate.grace;
  for (Clock::duration more = rate.grace; passed < std::chrono::hours(1); passed += more) {
    const double moved = std::chrono::duration<double>(more).count() * static_cast<double>(bytes);
    more = rate.TimeFor(static_cast<std::uint64_t>(moved));
    if (more == Clock::duration::zero()) {
      break;
    }
  }
  return passed;
}

TEST(MinRateTest, AByteBuysTheTimeThatItTakesAtTheLeastRate) {
  EXPECT_EQ(kRate.TimeFor(1), milliseconds(2));
  EXPECT_EQ(kRate.TimeFor(500), seconds(1));
  EXPECT_EQ(kRate.TimeFor(14'999), milliseconds(29'998));
}

TEST(MinRateTest, NothingBuysNothing) {
  EXPECT_EQ(kRate.TimeFor(0), Clock::duration::zero());
  EXPECT_EQ((MinRate{0, seconds(30)}.TimeFor(0)), Clock::duration::zero());
}

TEST(MinRateTest, NobodySavesUpMoreThanOneGrace) {
  EXPECT_EQ(kRate.TimeFor(15'000), seconds(30));
  EXPECT_EQ(kRate.TimeFor(15'001), seconds(30));
  EXPECT_EQ(kRate.TimeFor(UINT64_MAX), seconds(30));
}

TEST(MinRateTest, WithoutARateOneByteIsEnough) {
  EXPECT_EQ((MinRate{0, seconds(30)}.TimeFor(1)), seconds(30));
}

TEST(MinRateTest, WhoKeepsTheRateStaysAndWhoDoesNotGoes) {
  EXPECT_GE(Stay(kRate, 500), std::chrono::hours(1));
  EXPECT_GE(Stay(kRate, 5'000'000), std::chrono::hours(1));
  EXPECT_EQ(Stay(kRate, 0), seconds(30));
  EXPECT_LE(Stay(kRate, 1), seconds(31));
  EXPECT_LE(Stay(kRate, 250), seconds(60));  // 30 + 15 + 7.5 + …
}

}  // namespace
}  // namespace TURTLE_SERVER
