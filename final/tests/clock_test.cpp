#include "base/clock.h"

#include <gtest/gtest.h>

#include <chrono>

namespace TURTLE_SERVER {
namespace {

using std::chrono::milliseconds;

TEST(ClockTest, OnlyWhatIsLongerThanForeverIsCut) {
  EXPECT_EQ(Bounded(milliseconds(5)), milliseconds(5));
  EXPECT_EQ(Bounded(milliseconds(-5)), milliseconds(-5));
  EXPECT_EQ(Bounded(kForever), kForever);
  EXPECT_EQ(Bounded(milliseconds::max()), kForever);
  EXPECT_EQ(Bounded(std::chrono::hours::max()), kForever);
  EXPECT_EQ(Bounded(Clock::duration::max()), kForever);
}

TEST(ClockTest, ForeverCanBeAddedToAnyTimeOfOurs) {
  const TimePoint now = Clock::now();
  EXPECT_GT(now + kForever, now);
  EXPECT_GT(now + kForever + Bounded(milliseconds::max()), now + kForever) << "twice, even";
}

}  // namespace
}  // namespace TURTLE_SERVER
