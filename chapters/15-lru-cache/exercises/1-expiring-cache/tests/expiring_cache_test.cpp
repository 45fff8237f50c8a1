#include "core/expiring_cache.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

namespace TURTLE_SERVER {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;

using Cache = ExpiringCache<std::string, std::string>;

constexpr TimePoint kStart{seconds(1000)};
constexpr std::size_t kPlenty = 100'000;

TEST(ExpiringCacheTest, AnEntryIsThereUntilItIsOver) {
  Cache cache(kPlenty);
  ASSERT_TRUE(cache.Insert("a", "one", 4, kStart + seconds(10)));
  ASSERT_NE(cache.Find("a", kStart), nullptr);
  EXPECT_EQ(*cache.Find("a", kStart), "one");
  EXPECT_NE(cache.Find("a", kStart + seconds(10) - nanoseconds(1)), nullptr);
  EXPECT_EQ(cache.Find("a", kStart + seconds(10)), nullptr);
  EXPECT_EQ(cache.Find("a", kStart), nullptr) << "it was taken out";
}

TEST(ExpiringCacheTest, EachHasItsOwnTime) {
  Cache cache(kPlenty);
  cache.Insert("short", "s", 6, kStart + seconds(1));
  cache.Insert("long", "l", 5, kStart + seconds(5));
  cache.Insert("over", "o", 5, kStart);
  EXPECT_EQ(cache.Find(std::string_view("over"), kStart), nullptr);
  EXPECT_EQ(cache.Find(std::string_view("short"), kStart + seconds(2)), nullptr);
  EXPECT_NE(cache.Find(std::string_view("long"), kStart + seconds(2)), nullptr);
}

TEST(ExpiringCacheTest, ANewOneHasANewTime) {
  Cache cache(kPlenty);
  cache.Insert("a", "one", 4, kStart + seconds(1));
  cache.Insert("a", "two", 4, kStart + seconds(9));
  ASSERT_NE(cache.Find("a", kStart + seconds(8)), nullptr);
  EXPECT_EQ(*cache.Find("a", kStart + seconds(8)), "two");
  EXPECT_EQ(cache.Stats().entries, 1U);
}

TEST(ExpiringCacheTest, WhatIsOverWeighsNothingOnceItWasAskedFor) {
  Cache cache(kPlenty);
  cache.Insert("a", "one", 1000, kStart + seconds(1));
  EXPECT_GE(cache.Stats().bytes, 1000U);
  EXPECT_EQ(cache.Find("a", kStart + seconds(1)), nullptr);
  EXPECT_EQ(cache.Stats().bytes, 0U);
  EXPECT_EQ(cache.Stats().entries, 0U);
}

TEST(ExpiringCacheTest, ExpireTakesOutAllThatIsOverAndNothingElse) {
  Cache cache(kPlenty);
  for (int i = 0; i < 10; ++i) {
    cache.Insert(std::to_string(i), "x", 2, kStart + seconds(i));
  }
  EXPECT_EQ(cache.Expire(kStart + seconds(3)), 4U);
  EXPECT_EQ(cache.Expire(kStart + seconds(3)), 0U);
  EXPECT_EQ(cache.Stats().entries, 6U);
  EXPECT_EQ(cache.Find("3", kStart), nullptr);
  EXPECT_NE(cache.Find("4", kStart), nullptr);
}

TEST(ExpiringCacheTest, EveryFindIsAHitOrAMiss) {
  Cache cache(kPlenty);
  cache.Insert("a", "one", 4, kStart + seconds(1));
  cache.Insert("b", "two", 4, kStart + seconds(1));
  EXPECT_NE(cache.Find("a", kStart), nullptr);
  EXPECT_EQ(cache.Find("none", kStart), nullptr);
  EXPECT_EQ(cache.Find("a", kStart + seconds(1)), nullptr);
  EXPECT_EQ(cache.Find("a", kStart + seconds(1)), nullptr);
  EXPECT_EQ(cache.Expire(kStart + seconds(1)), 1U);
  EXPECT_EQ(cache.Stats().hits, 1U);
  EXPECT_EQ(cache.Stats().misses, 3U);
  EXPECT_EQ(cache.Stats().evictions, 0U) << "nothing had to make room";
}

TEST(ExpiringCacheTest, TheLimitHoldsAndTheOldestGoes) {
  Cache cache(3000);
  for (int i = 0; i < 100; ++i) {
    cache.Insert(std::to_string(i), "x", 900, kStart + seconds(100));
    EXPECT_LE(cache.Stats().bytes, 3000U);
  }
  EXPECT_NE(cache.Find("99", kStart), nullptr);
  EXPECT_EQ(cache.Find("0", kStart), nullptr);
  EXPECT_GT(cache.Stats().evictions, 90U);
  EXPECT_FALSE(cache.Insert("99", "x", 3000, kStart + seconds(100)));
  EXPECT_EQ(cache.Find("99", kStart), nullptr);
}

// The time that is kept with each entry is memory, too.
TEST(ExpiringCacheTest, TheTimeIsCounted) {
  Cache with(kPlenty);
  LruCache<std::string, std::string> without(kPlenty, kPlenty);
  with.Insert("a", "x", 10, kStart);
  without.Insert("a", "x", 10);
  EXPECT_GE(with.Stats().bytes, without.Stats().bytes + sizeof(TimePoint));
}

TEST(ExpiringCacheTest, ValuesNeedNotBeCopied) {
  ExpiringCache<std::string, std::unique_ptr<int>> cache(kPlenty);
  cache.Insert("a", std::make_unique<int>(7), 8, kStart + seconds(1));
  ASSERT_NE(cache.Find("a", kStart), nullptr);
  EXPECT_EQ(**cache.Find("a", kStart), 7);
}

}  // namespace
}  // namespace TURTLE_SERVER
