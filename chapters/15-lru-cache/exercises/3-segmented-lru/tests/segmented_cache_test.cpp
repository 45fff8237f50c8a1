#include "base/segmented_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace TURTLE_SERVER {
namespace {

using Cache = SegmentedCache<std::string, int>;

// Which of `keys` are there, without a look that changes anything for later ones: the last thing
// that a test does with a cache.
auto Left(Cache& cache, const std::vector<std::string>& keys) -> std::vector<std::string> {
  std::vector<std::string> left;
  for (const std::string& key : keys) {
    if (cache.Erase(key)) {
      left.push_back(key);
    }
  }
  return left;
}

using Keys = std::vector<std::string>;

TEST(SegmentedCacheTest, WhatIsPutInIsFound) {
  Cache cache(100, 80);
  ASSERT_NE(cache.Insert("a", 1, 10), nullptr);
  ASSERT_NE(cache.Find("a"), nullptr);
  EXPECT_EQ(*cache.Find("a"), 1);
  EXPECT_EQ(cache.Find("b"), nullptr);
  EXPECT_EQ(cache.Stats().hits, 2U);
  EXPECT_EQ(cache.Stats().misses, 1U);
  EXPECT_EQ(cache.Stats().entries, 1U);
  EXPECT_EQ(cache.Stats().bytes, 10U);
}

TEST(SegmentedCacheTest, ACrawlerDoesNotPushOutWhatIsUsed) {
  Cache cache(100, 80);
  const Keys used{"1", "2", "3", "4", "5", "6", "7", "8"};
  for (const std::string& key : used) {
    cache.Insert(key, 0, 10);
    ASSERT_NE(cache.Find(key), nullptr);
  }
  for (int i = 0; i < 10'000; ++i) {
    ASSERT_NE(cache.Insert("crawled" + std::to_string(i), 0, 10), nullptr);
    ASSERT_LE(cache.Stats().bytes, 100U);
  }
  EXPECT_EQ(Left(cache, used), used);
}

TEST(SegmentedCacheTest, OnProbationTheOldestGoesFirst) {
  Cache cache(40, 30);
  for (const char* key : {"a", "b", "c", "d", "e"}) {
    cache.Insert(key, 0, 10);
  }
  EXPECT_EQ(cache.Stats().evictions, 1U);
  EXPECT_EQ(Left(cache, {"a", "b", "c", "d", "e"}), (Keys{"b", "c", "d", "e"}));
}

TEST(SegmentedCacheTest, ASecondLookProtects) {
  Cache cache(40, 30);
  for (const char* key : {"a", "b", "c", "d"}) {
    cache.Insert(key, 0, 10);
  }
  EXPECT_EQ(cache.ProtectedBytes(), 0U);
  ASSERT_NE(cache.Find("a"), nullptr);
  EXPECT_EQ(cache.ProtectedBytes(), 10U);
  ASSERT_NE(cache.Find("a"), nullptr);
  EXPECT_EQ(cache.ProtectedBytes(), 10U) << "it is there once";
  cache.Insert("e", 0, 10);
  cache.Insert("f", 0, 10);
  EXPECT_EQ(Left(cache, {"a", "b", "c", "d", "e", "f"}), (Keys{"a", "d", "e", "f"}));
}

TEST(SegmentedCacheTest, WhoIsProtectedNoMoreIsTheYoungestOnProbation) {
  Cache cache(50, 20);
  for (const char* key : {"a", "b", "c", "d", "e"}) {
    cache.Insert(key, 0, 10);
  }
  for (const char* key : {"a", "b", "c"}) {
    ASSERT_NE(cache.Find(key), nullptr);  // at "c" the turn of "a" is over
  }
  EXPECT_EQ(cache.ProtectedBytes(), 20U);
  EXPECT_EQ(cache.Stats().entries, 5U) << "nothing goes by a look";
  EXPECT_EQ(cache.Stats().evictions, 0U);
  cache.Insert("f", 0, 10);
  cache.Insert("g", 0, 10);
  EXPECT_EQ(Left(cache, {"a", "b", "c", "d", "e"}), (Keys{"a", "b", "c"})) << "d and e were older";
}

TEST(SegmentedCacheTest, AmongTheProtectedTheLeastRecentlyUsedGivesWay) {
  Cache cache(50, 20);
  for (const char* key : {"a", "b", "c"}) {
    cache.Insert(key, 0, 10);
  }
  for (const char* key : {"a", "b", "a", "c"}) {
    ASSERT_NE(cache.Find(key), nullptr);
  }
  cache.Insert("d", 0, 10);
  cache.Insert("e", 0, 10);
  cache.Insert("f", 0, 10);
  EXPECT_EQ(Left(cache, {"a", "b", "c"}), (Keys{"a", "c"}));
}

TEST(SegmentedCacheTest, SeveralGiveWayInTheirOrder) {
  Cache cache(100, 40);
  cache.Insert("large", 0, 40);
  for (const char* key : {"a", "b", "c", "d"}) {
    cache.Insert(key, 0, 10);
    ASSERT_NE(cache.Find(key), nullptr);
  }
  ASSERT_NE(cache.Find("large"), nullptr);
  EXPECT_EQ(cache.ProtectedBytes(), 40U);
  EXPECT_EQ(cache.Stats().bytes, 80U);
  cache.Insert("e", 0, 40);  // "a" and "b" have to make room
  EXPECT_EQ(Left(cache, {"a", "b", "c", "d", "large"}), (Keys{"c", "d", "large"}));
}

TEST(SegmentedCacheTest, WhatIsTooLargeToBeProtectedIsRenewedOnProbation) {
  Cache cache(100, 30);
  cache.Insert("p", 0, 10);
  ASSERT_NE(cache.Find("p"), nullptr);
  cache.Insert("large", 0, 40);
  cache.Insert("b", 0, 40);
  ASSERT_NE(cache.Find("large"), nullptr);
  EXPECT_EQ(cache.ProtectedBytes(), 10U) << "it displaces nobody for nothing";
  cache.Insert("c", 0, 40);
  EXPECT_EQ(Left(cache, {"p", "large", "b", "c"}), (Keys{"p", "large", "c"}));
}

TEST(SegmentedCacheTest, TheProtectedGoWhenNobodyElseIsLeft) {
  Cache cache(40, 40);
  for (const char* key : {"a", "b", "c", "d"}) {
    cache.Insert(key, 0, 10);
    ASSERT_NE(cache.Find(key), nullptr);
  }
  ASSERT_NE(cache.Insert("e", 0, 20), nullptr);
  EXPECT_EQ(cache.ProtectedBytes(), 20U);
  EXPECT_EQ(Left(cache, {"a", "b", "c", "d", "e"}), (Keys{"c", "d", "e"}));
}

TEST(SegmentedCacheTest, ANewValueIsOnProbationAgain) {
  Cache cache(40, 30);
  cache.Insert("a", 1, 10);
  ASSERT_NE(cache.Find("a"), nullptr);
  ASSERT_NE(cache.Insert("a", 2, 15), nullptr);
  EXPECT_EQ(cache.ProtectedBytes(), 0U);
  EXPECT_EQ(cache.Stats().bytes, 15U);
  EXPECT_EQ(cache.Stats().entries, 1U);
  EXPECT_EQ(cache.Stats().evictions, 0U);
  EXPECT_EQ(*cache.Find("a"), 2);
}

TEST(SegmentedCacheTest, WhatIsTooLargeIsNotAdded) {
  Cache cache(40, 30);
  cache.Insert("a", 1, 10);
  cache.Insert("b", 1, 10);
  EXPECT_EQ(cache.Insert("a", 2, 41), nullptr);
  EXPECT_EQ(cache.Insert("c", 2, std::numeric_limits<std::size_t>::max()), nullptr);
  EXPECT_EQ(Left(cache, {"a", "b", "c"}), Keys{"b"});
  ASSERT_NE(cache.Insert("d", 2, 40), nullptr);
  EXPECT_EQ(cache.Stats().bytes, 40U);
}

TEST(SegmentedCacheTest, ErasedIsErasedWhereverItWas) {
  Cache cache(40, 30);
  cache.Insert("a", 1, 10);
  cache.Insert("b", 1, 10);
  ASSERT_NE(cache.Find("a"), nullptr);
  EXPECT_TRUE(cache.Erase("a"));
  EXPECT_FALSE(cache.Erase("a"));
  EXPECT_EQ(cache.ProtectedBytes(), 0U);
  EXPECT_TRUE(cache.Erase("b"));
  EXPECT_EQ(cache.Stats().bytes, 0U);
  EXPECT_EQ(cache.Stats().entries, 0U);
  EXPECT_EQ(cache.Stats().evictions, 0U);
  EXPECT_EQ(cache.Stats().hits + cache.Stats().misses, 1U);
}

// A response may be looking at it.
TEST(SegmentedCacheTest, AValueStaysWhereItIs) {
  SegmentedCache<std::string, std::unique_ptr<int>> cache(10'000, 20);
  std::unique_ptr<int>* const a = cache.Insert("a", std::make_unique<int>(1), 10);
  for (int i = 0; i < 500; ++i) {
    const std::string key = std::to_string(i);
    cache.Insert(key, std::make_unique<int>(i), 10);
    ASSERT_NE(cache.Find(key), nullptr);
    ASSERT_EQ(cache.Find("a"), a);
  }
  EXPECT_EQ(**a, 1);
}

TEST(SegmentedCacheTest, EveryValueEnds) {
  const auto counted = std::make_shared<int>();
  {
    SegmentedCache<int, std::shared_ptr<int>, std::hash<int>> cache(100, 50);
    for (int i = 0; i < 100; ++i) {
      cache.Insert(i, counted, 10);
      if (i % 3 == 0) {
        ASSERT_NE(cache.Find(i), nullptr);
      }
      EXPECT_EQ(static_cast<std::size_t>(counted.use_count()), cache.Stats().entries + 1);
    }
  }
  EXPECT_EQ(counted.use_count(), 1);
}

// The same rules, written down as slowly as can be: the youngest are in front.
class Model {
 public:
  Model(std::size_t limit, std::size_t protected_limit)
      : limit_(limit), protected_limit_(protected_limit) {}

  void Insert(int key, int value, std::size_t weight) {
    Erase(key);
    if (weight > limit_) {
      return;
    }
    while (Sum(probation_) + Sum(protected_) + weight > limit_) {
      (probation_.empty() ? protected_ : probation_).pop_back();
      ++evictions;
    }
    probation_.insert(probation_.begin(), {key, value, weight});
  }

  auto Find(int key) -> std::optional<int> {
    for (auto* list : {&probation_, &protected_}) {
      const auto found = At(*list, key);
      if (found == list->end()) {
        continue;
      }
      const Entry entry = *found;
      list->erase(found);
      auto& to = entry.weight > protected_limit_ ? probation_ : protected_;
      to.insert(to.begin(), entry);
      while (Sum(protected_) > protected_limit_) {
        probation_.insert(probation_.begin(), protected_.back());
        protected_.pop_back();
      }
      return entry.value;
    }
    return std::nullopt;
  }

  auto Erase(int key) -> bool {
    for (auto* list : {&probation_, &protected_}) {
      const auto found = At(*list, key);
      if (found != list->end()) {
        list->erase(found);
        return true;
      }
    }
    return false;
  }

  auto Bytes() const -> std::size_t { return Sum(probation_) + Sum(protected_); }
  auto ProtectedBytes() const -> std::size_t { return Sum(protected_); }

  std::uint64_t evictions = 0;

 private:
  struct Entry {
    int key;
    int value;
    std::size_t weight;
  };

  static auto At(std::vector<Entry>& list, int key) -> std::vector<Entry>::iterator {
    return std::find_if(list.begin(), list.end(), [key](const Entry& e) { return e.key == key; });
  }

  static auto Sum(const std::vector<Entry>& list) -> std::size_t {
    std::size_t sum = 0;
    for (const Entry& entry : list) {
      sum += entry.weight;
    }
    return sum;
  }

  std::size_t limit_;
  std::size_t protected_limit_;
  std::vector<Entry> probation_;
  std::vector<Entry> protected_;
};

TEST(SegmentedCacheTest, DoesWhatTheRulesSay) {
  for (const std::size_t protected_limit : {0, 1, 37, 80, 100}) {
    std::mt19937 random(static_cast<unsigned>(protected_limit));
    SegmentedCache<int, int, std::hash<int>> cache(100, protected_limit);
    Model model(100, protected_limit);
    for (int step = 0; step < 20'000; ++step) {
      const int key = static_cast<int>(random() % 30);
      const auto what = random() % 10;
      if (what < 4) {
        const std::size_t weight = random() % (step % 7 == 0 ? 120 : 20);
        const int* const put = cache.Insert(key, step, weight);
        model.Insert(key, step, weight);
        ASSERT_EQ(put != nullptr, weight <= 100);
      } else if (what < 9) {
        const int* const found = cache.Find(key);
        const std::optional<int> expected = model.Find(key);
        ASSERT_EQ(found != nullptr, expected.has_value()) << step;
        if (found != nullptr) {
          ASSERT_EQ(*found, *expected);
        }
      } else {
        ASSERT_EQ(cache.Erase(key), model.Erase(key)) << step;
      }
      ASSERT_EQ(cache.Stats().bytes, model.Bytes()) << step;
      ASSERT_EQ(cache.ProtectedBytes(), model.ProtectedBytes()) << step;
      ASSERT_EQ(cache.Stats().evictions, model.evictions) << step;
    }
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
