#include "base/lru_cache.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <list>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace TURTLE_SERVER {
namespace {

using Cache = LruCache<std::string, int>;
constexpr std::size_t kOverhead = Cache::OverheadBytes();
constexpr std::size_t kEntry = kOverhead + 10;  // the cost of an entry of weight 10

auto Keys(Cache& cache) -> std::string {
  std::string keys;
  cache.ForEach([&keys](const std::string& key, int& /*value*/) { keys += key; });
  return keys;
}

TEST(LruCacheTest, FindsWhatWasInserted) {
  Cache cache(10 * kEntry, 10 * kEntry);
  EXPECT_EQ(cache.Find("a"), nullptr);
  EXPECT_FALSE(cache.Erase("a"));
  int* const inserted = cache.Insert("a", 1, 10);
  ASSERT_NE(inserted, nullptr);
  EXPECT_EQ(*inserted, 1);
  EXPECT_EQ(cache.Find(std::string_view("a")), inserted);
  EXPECT_EQ(cache.Find(std::string("a")), inserted);
  EXPECT_TRUE(cache.Erase(std::string_view("a")));
  EXPECT_EQ(cache.Find("a"), nullptr);
  EXPECT_EQ(cache.Stats().hits, 2U);
  EXPECT_EQ(cache.Stats().misses, 2U);
  EXPECT_EQ(cache.Stats().bytes, 0U);
  EXPECT_EQ(cache.Stats().entries, 0U);
}

TEST(LruCacheTest, TheLeastRecentlyUsedMakesRoom) {
  Cache cache(3 * kEntry, 3 * kEntry);
  cache.Insert("a", 1, 10);
  cache.Insert("b", 2, 10);
  cache.Insert("c", 3, 10);
  EXPECT_EQ(Keys(cache), "cba");
  EXPECT_NE(cache.Find("a"), nullptr);  // now b is the oldest
  cache.Insert("d", 4, 10);
  EXPECT_EQ(Keys(cache), "dac");
  EXPECT_EQ(cache.Stats().evictions, 1U);
  EXPECT_EQ(cache.Stats().bytes, 3 * kEntry);
  EXPECT_NE(cache.Find("c"), nullptr);  // the oldest itself is touched
  EXPECT_EQ(Keys(cache), "cda");
  EXPECT_NE(cache.Find("c"), nullptr);  // and the youngest
  EXPECT_EQ(Keys(cache), "cda");
}

TEST(LruCacheTest, WeightIsWhatCounts) {
  Cache cache(4 * kOverhead + 100, 4 * kOverhead + 100);
  cache.Insert("a", 1, 40);
  cache.Insert("b", 2, 40);
  cache.Insert("c", 3, 20);
  EXPECT_EQ(cache.Stats().entries, 3U);
  cache.Insert("d", 4, 0);  // 100 + 4 overheads: exactly full
  EXPECT_EQ(Keys(cache), "dcba");
  EXPECT_EQ(cache.Stats().bytes, 4 * kOverhead + 100);
  cache.Insert("e", 5, 81 + kOverhead);  // takes all but c and d, and c by one byte
  EXPECT_EQ(Keys(cache), "ed");
  EXPECT_EQ(cache.Stats().evictions, 3U);
}

TEST(LruCacheTest, AnEntryOverTheLimitIsRefusedAndReplacesNothing) {
  Cache cache(100 * kEntry, kEntry);
  cache.Insert("a", 1, 10);
  cache.Insert("b", 2, 10);
  EXPECT_EQ(cache.Insert("c", 3, 11), nullptr);
  EXPECT_EQ(Keys(cache), "ba");
  // The old value of a refused one must go: it would be stale.
  EXPECT_EQ(cache.Insert("a", 9, 11), nullptr);
  EXPECT_EQ(Keys(cache), "b");
  EXPECT_EQ(cache.Insert("x", 1, static_cast<std::size_t>(-1)), nullptr);  // no overflow
  EXPECT_EQ(cache.Stats().evictions, 0U);
}

TEST(LruCacheTest, ACacheWithoutRoomHoldsNothing) {
  for (const std::size_t size : {std::size_t{0}, kOverhead - 1}) {
    Cache cache(size, 1000 * kEntry);
    EXPECT_EQ(cache.Insert("a", 1, 0), nullptr);
    EXPECT_EQ(cache.Find("a"), nullptr);
  }
}

TEST(LruCacheTest, InsertReplaces) {
  Cache cache(3 * kEntry, 3 * kEntry);
  cache.Insert("a", 1, 10);
  cache.Insert("b", 2, 10);
  EXPECT_EQ(*cache.Insert("a", 7, 20), 7);
  EXPECT_EQ(Keys(cache), "ab");
  EXPECT_EQ(*cache.Find("a"), 7);
  EXPECT_EQ(cache.Stats().bytes, 2 * kEntry + 10);
  EXPECT_EQ(cache.Stats().evictions, 0U);
}

TEST(LruCacheTest, ValuesStayInPlaceWhileTheTableGrows) {
  Cache cache(5000 * kEntry, kEntry);
  int* const first = cache.Insert("first", 42, 10);
  for (int i = 0; i < 3000; ++i) {
    cache.Insert(std::to_string(i), i, 10);
  }
  EXPECT_EQ(cache.Find("first"), first);
  EXPECT_EQ(*first, 42);
  for (int i = 0; i < 3000; ++i) {
    ASSERT_NE(cache.Find(std::to_string(i)), nullptr) << i;
  }
  EXPECT_EQ(cache.Stats().entries, 3001U);
}

TEST(LruCacheTest, EraseIfAndClear) {
  Cache cache(10 * kEntry, kEntry);
  for (int i = 0; i < 6; ++i) {
    cache.Insert(std::string(1, static_cast<char>('a' + i)), i, 10);
  }
  EXPECT_EQ(cache.EraseIf([](const std::string&, const int& value) { return value % 2 == 0; }), 3U);
  EXPECT_EQ(Keys(cache), "fdb");
  EXPECT_EQ(cache.Stats().bytes, 3 * kEntry);
  cache.Clear();
  EXPECT_EQ(Keys(cache), "");
  EXPECT_EQ(cache.Stats().bytes, 0U);
  EXPECT_NE(cache.Insert("a", 1, 10), nullptr);
}

// Every hash the same: chains must still be told apart by key.
struct OneBucket {
  auto operator()(std::string_view /*text*/) const -> std::uint64_t { return 7; }
};

TEST(LruCacheTest, CollisionsAreOnlySlow) {
  LruCache<std::string, int, OneBucket> cache(1000 * kEntry, kEntry);
  for (int i = 0; i < 50; ++i) {
    cache.Insert(std::to_string(i), i, 10);
  }
  for (int i = 0; i < 50; i += 2) {
    EXPECT_TRUE(cache.Erase(std::to_string(i)));
  }
  for (int i = 0; i < 50; ++i) {
    const int* value = cache.Find(std::to_string(i));
    EXPECT_EQ(value != nullptr, i % 2 == 1) << i;
    EXPECT_TRUE(value == nullptr || *value == i);
  }
}

TEST(LruCacheTest, ValuesCanBeMoveOnlyAndAreDestroyedOnce) {
  const auto alive = std::make_shared<int>(0);
  struct Value {
    std::unique_ptr<int> only;
    std::shared_ptr<int> count;
  };
  using Owner = LruCache<std::string, Value>;
  {
    Owner cache(2 * (Owner::OverheadBytes() + 10), 1000);
    for (const char* key : {"a", "b", "c", "c"}) {
      cache.Insert(key, {std::make_unique<int>(1), alive}, 10);
    }
    EXPECT_EQ(alive.use_count(), 3);
    cache.Erase("c");
    EXPECT_EQ(alive.use_count(), 2);
  }
  EXPECT_EQ(alive.use_count(), 1);
}

// Compares it with a slow and obvious cache, through many random steps.
TEST(LruCacheTest, DoesWhatAListWouldDo) {
  struct Entry {
    std::string key;
    int value;
    std::size_t bytes;
  };
  std::mt19937 random(12345);
  const std::size_t max_bytes = 12 * kEntry;
  const std::size_t max_entry = 4 * kEntry;
  Cache cache(max_bytes, max_entry);
  std::list<Entry> model;  // youngest first
  LruStats expected;
  const auto find = [&model](const std::string& key) {
    auto at = model.begin();
    while (at != model.end() && at->key != key) {
      ++at;
    }
    return at;
  };
  for (int step = 0; step < 20000; ++step) {
    const std::string key = std::to_string(random() % 30);
    const auto at = find(key);
    const unsigned action = random() % 10;
    if (action < 5) {
      const int* value = cache.Find(key);
      ASSERT_EQ(value != nullptr, at != model.end());
      ++(value != nullptr ? expected.hits : expected.misses);
      if (value != nullptr) {
        ASSERT_EQ(*value, at->value);
        model.splice(model.begin(), model, at);
      }
    } else if (action < 9) {
      const std::size_t weight = random() % (5 * kEntry);
      if (at != model.end()) {
        expected.bytes -= at->bytes;
        model.erase(at);
      }
      const bool fits = weight + kOverhead <= max_entry;
      ASSERT_EQ(cache.Insert(key, step, weight) != nullptr, fits);
      if (fits) {
        expected.bytes += weight + kOverhead;
        model.push_front({key, step, weight + kOverhead});
        while (expected.bytes > max_bytes) {
          expected.bytes -= model.back().bytes;
          model.pop_back();
          ++expected.evictions;
        }
      }
    } else {
      ASSERT_EQ(cache.Erase(key), at != model.end());
      if (at != model.end()) {
        expected.bytes -= at->bytes;
        model.erase(at);
      }
    }
    ASSERT_EQ(cache.Stats().bytes, expected.bytes);
    ASSERT_EQ(cache.Stats().entries, model.size());
  }
  EXPECT_EQ(cache.Stats().hits, expected.hits);
  EXPECT_EQ(cache.Stats().misses, expected.misses);
  EXPECT_EQ(cache.Stats().evictions, expected.evictions);
  EXPECT_GT(expected.evictions, 1000U);
  std::string order;
  for (const Entry& entry : model) {
    order += entry.key;
  }
  EXPECT_EQ(Keys(cache), order);
}

}  // namespace
}  // namespace TURTLE_SERVER
