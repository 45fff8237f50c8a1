#include <gtest/gtest.h>

#include <chrono>

#include "bench/pace.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

TEST(PaceTest, IsEven) {
  const TimePoint start{seconds(100)};
  Pace pace(start, 4);
  EXPECT_EQ(pace.Next(), start);
  EXPECT_EQ(pace.Take(), start);
  EXPECT_EQ(pace.Next(), start + milliseconds(250));
  EXPECT_EQ(pace.Take(), start + milliseconds(250));
  EXPECT_EQ(pace.Take(), start + milliseconds(500));
}

TEST(PaceTest, RoundingDoesNotAddUp) {
  const TimePoint start{};
  Pace pace(start, 3);
  for (int i = 0; i < 3'000'000; ++i) {
    pace.Take();
  }
  EXPECT_LE(std::chrono::abs(pace.Next() - (start + seconds(1'000'000))), nanoseconds(1'000));
}

TEST(PaceTest, CountsWhatWasNotTaken) {
  const TimePoint start{seconds(1)};
  Pace pace(start, 1000);
  EXPECT_EQ(pace.Overdue(start - milliseconds(5)), 0U);
  EXPECT_EQ(pace.Overdue(start), 0U);
  EXPECT_EQ(pace.Overdue(start + milliseconds(10)), 10U);
  for (int i = 0; i < 4; ++i) {
    pace.Take();
  }
  EXPECT_EQ(pace.Overdue(start + milliseconds(10)), 6U);
  EXPECT_EQ(pace.Overdue(start + milliseconds(3)), 0U);
}

}  // namespace
}  // namespace TURTLE_SERVER
