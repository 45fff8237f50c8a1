#include "core/arrivals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace TURTLE_SERVER {
namespace {

auto Accepted(Arrivals& arrivals, const std::vector<std::uint64_t>& numbers) -> std::vector<bool> {
  std::vector<bool> accepted;
  for (const std::uint64_t number : numbers) {
    accepted.push_back(arrivals.Accept(number));
  }
  return accepted;
}

TEST(ArrivalsTest, EachIsTakenOnce) {
  Arrivals arrivals;
  EXPECT_EQ(Accepted(arrivals, {0, 0, 1, 2, 1, 2, 0, 3}),
            (std::vector<bool>{true, false, true, true, false, false, false, true}));
  EXPECT_EQ(arrivals.Lost(), 0U);
}

TEST(ArrivalsTest, InAnyOrder) {
  Arrivals arrivals;
  EXPECT_EQ(
      Accepted(arrivals, {5, 3, 4, 3, 0, 6, 5, 1, 2, 1, 0}),
      (std::vector<bool>{true, true, true, false, true, true, false, true, true, false, false}));
  EXPECT_EQ(arrivals.Lost(), 0U);
}

TEST(ArrivalsTest, WhatIsTooOldIsIgnored) {
  Arrivals arrivals;
  EXPECT_TRUE(arrivals.Accept(100));
  EXPECT_TRUE(arrivals.Accept(37)) << "the 63rd before it";
  EXPECT_FALSE(arrivals.Accept(36));
  EXPECT_FALSE(arrivals.Accept(37));
  EXPECT_FALSE(arrivals.Accept(0));
  EXPECT_TRUE(arrivals.Accept(101));
  EXPECT_FALSE(arrivals.Accept(37));
  EXPECT_TRUE(arrivals.Accept(38));
}

TEST(ArrivalsTest, WhatIsTooOldAndHasNotComeIsLost) {
  Arrivals arrivals;
  ASSERT_TRUE(arrivals.Accept(0));
  ASSERT_TRUE(arrivals.Accept(2));
  EXPECT_EQ(arrivals.Lost(), 0U) << "1 may still come";
  ASSERT_TRUE(arrivals.Accept(64));
  EXPECT_EQ(arrivals.Lost(), 0U);
  ASSERT_TRUE(arrivals.Accept(65));
  EXPECT_EQ(arrivals.Lost(), 1U);
  EXPECT_FALSE(arrivals.Accept(1));
  EXPECT_EQ(arrivals.Lost(), 1U);
  ASSERT_TRUE(arrivals.Accept(66));
  EXPECT_EQ(arrivals.Lost(), 1U) << "2 has come";
  ASSERT_TRUE(arrivals.Accept(67));
  EXPECT_EQ(arrivals.Lost(), 2U);
}

TEST(ArrivalsTest, TheFirstThatComesNeedNotBeTheFirst) {
  Arrivals arrivals;
  ASSERT_TRUE(arrivals.Accept(70));
  EXPECT_EQ(arrivals.Lost(), 7U) << "0 to 6";
  EXPECT_TRUE(arrivals.Accept(7));
}

TEST(ArrivalsTest, Leaps) {
  for (const std::uint64_t leap : {63U, 64U, 65U, 127U, 128U, 1000U}) {
    Arrivals arrivals;
    ASSERT_TRUE(arrivals.Accept(0));
    ASSERT_TRUE(arrivals.Accept(leap));
    EXPECT_FALSE(arrivals.Accept(leap)) << leap;
    EXPECT_EQ(arrivals.Accept(leap - 63), leap != 63) << leap;
    EXPECT_TRUE(arrivals.Accept(leap - 1)) << leap;
    EXPECT_EQ(arrivals.Lost(), leap < 65 ? 0 : leap - 64) << "1 to " << leap - 64;
  }
}

// Counting them one by one would take until tomorrow.
TEST(ArrivalsTest, AStrangersNumberTakesNoTime) {
  constexpr std::uint64_t kFar = std::uint64_t{1} << 63;
  Arrivals arrivals;
  EXPECT_TRUE(arrivals.Accept(kFar));
  EXPECT_EQ(arrivals.Lost(), kFar - 63);
  EXPECT_FALSE(arrivals.Accept(kFar));
  EXPECT_TRUE(arrivals.Accept(kFar - 63));
  EXPECT_FALSE(arrivals.Accept(kFar - 64));
  EXPECT_FALSE(arrivals.Accept(0));
}

// Compares with a version that forgets nothing.
TEST(ArrivalsTest, AsOneWhoHasAListOfAll) {
  std::mt19937 random(19);
  Arrivals arrivals;
  std::vector<bool> come(300'000, false);
  std::uint64_t next = 0;  // the number after the newest
  std::uint64_t gone = 0;  // those below are too old
  std::uint64_t lost = 0;
  for (int i = 0; i < 50'000; ++i) {
    const std::uint64_t ahead = random() % 100 == 0 ? random() % 200 : random() % 3;
    const std::uint64_t back = next == 0 ? 0 : 1 + random() % std::min<std::uint64_t>(next, 80);
    const std::uint64_t number = random() % 2 == 0 ? next + ahead : next - back;
    ASSERT_LT(number, come.size());
    ASSERT_EQ(arrivals.Accept(number), number >= gone && !come[number])
        << number << ", and the next is " << next;
    come[number] = true;
    next = std::max(next, number + 1);
    for (; gone + 64 < next; ++gone) {
      lost += come[gone] ? 0 : 1;
    }
    ASSERT_EQ(arrivals.Lost(), lost) << "the next is " << next;
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
