#include "base/recent_count.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>

#include "support/counting_new.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::milliseconds;

auto At(std::int64_t ms) -> RecentCount::TimePoint {
  return RecentCount::TimePoint(milliseconds(ms));
}

TEST(RecentCountTest, ForgetsWhatIsOlderThanItsSlices) {
  RecentCount count(milliseconds(1000), 3);
  EXPECT_EQ(count.Sum(At(10'000)), 0U);
  count.Add(At(10'000), 1);
  count.Add(At(10'999), 10);
  count.Add(At(11'000), 100);
  EXPECT_EQ(count.Sum(At(11'000)), 111U);
  count.Add(At(12'500), 1000);
  EXPECT_EQ(count.Sum(At(12'999)), 1111U);
  EXPECT_EQ(count.Sum(At(13'000)), 1100U);
  EXPECT_EQ(count.Sum(At(14'000)), 1000U);
  EXPECT_EQ(count.Sum(At(15'000)), 0U);
}

TEST(RecentCountTest, ASlotIsUsedAgain) {
  RecentCount count(milliseconds(1000), 2);
  for (int i = 0; i < 10; ++i) {
    count.Add(At(1000 * i), 1);
    count.Add(At(1000 * i + 500), 2);
    EXPECT_EQ(count.Sum(At(1000 * i + 999)), i == 0 ? 3U : 6U);
  }
}

TEST(RecentCountTest, ALongSilence) {
  RecentCount count(milliseconds(10), 4);
  count.Add(At(0), 5);
  EXPECT_EQ(count.Sum(At(1'000'000)), 0U);
  count.Add(At(1'000'000), 7);
  EXPECT_EQ(count.Sum(At(1'000'000)), 7U);
  EXPECT_EQ(count.Sum(At(1'000'039)), 7U);
  EXPECT_EQ(count.Sum(At(1'000'040)), 0U);
}

TEST(RecentCountTest, ALateReaderSeesNothingNewer) {
  RecentCount count(milliseconds(10), 4);
  count.Add(At(100), 1);
  count.Add(At(110), 2);
  EXPECT_EQ(count.Sum(At(109)), 1U);
  EXPECT_EQ(count.Sum(At(50)), 0U);
}

TEST(RecentCountTest, CountsMoreThan32BitsHold) {
  RecentCount count(milliseconds(10), 2);
  constexpr std::uint64_t kMany = 5'000'000'000;
  count.Add(At(5), kMany);
  count.Add(At(6), kMany);
  EXPECT_EQ(count.Sum(At(7)), 2 * kMany);
}

TEST(RecentCountTest, CountingAllocatesNothing) {
  RecentCount count(milliseconds(10), 100);
  test::allocations = 0;
  test::counts_allocations = true;
  std::uint64_t sum = 0;
  for (int i = 0; i < 10'000; ++i) {
    count.Add(At(i), 1);
    sum += count.Sum(At(i));
  }
  test::counts_allocations = false;
  EXPECT_EQ(test::allocations, 0U);
  EXPECT_GT(sum, 0U);
}

// One slice after the other, each with a count that identifies it.
TEST(RecentCountTest, WhatIsReadIsWhole) {
  constexpr std::int64_t kSlices = 4;
  constexpr std::int64_t kRounds = 200'000;
  const auto of_slice = [](std::int64_t slice) {
    return static_cast<std::uint64_t>(slice % 7 == 0 ? 1'000'000'000'000 : slice % 11);
  };
  RecentCount count(milliseconds(1), kSlices);
  std::atomic<std::int64_t> time{0};
  std::atomic<bool> wrong{false};
  std::atomic<int> seen{0};
  std::thread reader([&] {
    for (std::int64_t now = 0; now < kRounds && !wrong;) {
      now = time;
      const std::uint64_t sum = count.Sum(At(now));
      if (now != time) {
        continue;
      }
      // The writer may be in the middle of `now`, or just before or after it.
      std::uint64_t before = 0;
      for (std::int64_t slice = now - 1; slice > now - kSlices && slice > 0; --slice) {
        before += of_slice(slice);
      }
      wrong = now > 0 && sum != before && sum != before + of_slice(now);
      ++seen;
    }
  });
  while (seen == 0) {
    std::this_thread::yield();
  }
  for (std::int64_t slice = 1; slice <= kRounds && !wrong; ++slice) {
    time = slice;
    count.Add(At(slice), of_slice(slice));
  }
  time = kRounds;
  reader.join();
  EXPECT_FALSE(wrong) << "a count of one slice was taken for another's";
}

TEST(RecentCountTest, Refusals) {
  const auto refusal = [](int ms, std::size_t slices) -> std::string {
    try {
      const RecentCount count{milliseconds(ms), slices};
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal(0, 3), "slice 0 ms: at least 1");
  EXPECT_EQ(refusal(-5, 3), "slice -5 ms: at least 1");
  EXPECT_EQ(refusal(5, 0), "0 slices: at least 1");
  EXPECT_EQ(refusal(1, 1), "");
}

}  // namespace
}  // namespace TURTLE_SERVER
