#include "base/seen_keys.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

#include "support/counting_new.h"

namespace TURTLE_SERVER {
namespace {

auto Key(const char* what, std::size_t number) -> std::string {
  return std::string("/") + what + "?" + std::to_string(number);
}

// Returns how many of `count` keys, which begin with `what`, it claims to know.
auto Known(SeenKeys& seen, const char* what, std::size_t count) -> std::size_t {
  std::size_t known = 0;
  for (std::size_t i = 0; i < count; ++i) {
    known += seen.Note(Key(what, i)) ? 1U : 0U;
  }
  return known;
}

TEST(SeenKeysTest, ASecondTimeIsNoticed) {
  SeenKeys seen(100);
  EXPECT_FALSE(seen.Note("/a"));
  EXPECT_TRUE(seen.Note("/a"));
  EXPECT_TRUE(seen.Note("/a"));
  EXPECT_FALSE(seen.Note(""));
  EXPECT_TRUE(seen.Note(""));
}

TEST(SeenKeysTest, NoneOfTheLastKeysIsForgotten) {
  constexpr std::size_t kCapacity = 1000;
  SeenKeys seen(kCapacity);
  // Wherever the filters happen to take turns.
  for (std::size_t before = 0; before < 3 * kCapacity; before += 123) {
    Known(seen, ("before" + std::to_string(before)).c_str(), 123);
    const std::string what = "last" + std::to_string(before);
    Known(seen, what.c_str(), kCapacity);
    ASSERT_EQ(Known(seen, what.c_str(), kCapacity), kCapacity) << before;
  }
}

TEST(SeenKeysTest, AKeyThatKeepsComingIsNeverForgotten) {
  SeenKeys seen(64);
  seen.Note("/popular");
  for (std::size_t i = 0; i < 10'000; ++i) {
    if (i % 63 == 0) {
      ASSERT_TRUE(seen.Note("/popular")) << i;
    }
    seen.Note(Key("flood", i));
  }
}

TEST(SeenKeysTest, NewKeysAreHardlyEverKnown) {
  constexpr std::size_t kCapacity = 5000;
  SeenKeys seen(kCapacity);
  EXPECT_LE(Known(seen, "a", 4 * kCapacity), 4 * kCapacity / 50);
}

TEST(SeenKeysTest, OldKeysAreForgotten) {
  constexpr std::size_t kCapacity = 5000;
  SeenKeys seen(kCapacity);
  Known(seen, "old", kCapacity / 2);
  Known(seen, "new", 2 * kCapacity);
  EXPECT_LE(Known(seen, "old", kCapacity / 2), kCapacity / 2 / 50);
}

TEST(SeenKeysTest, AKnownKeyTakesNoRoom) {
  constexpr std::size_t kCapacity = 1000;
  SeenKeys seen(kCapacity);
  Known(seen, "a", kCapacity / 2);
  for (int round = 0; round < 20; ++round) {
    ASSERT_EQ(Known(seen, "a", kCapacity / 2), kCapacity / 2);
  }
  EXPECT_LE(Known(seen, "new", kCapacity), kCapacity / 50);
}

TEST(SeenKeysTest, TwoTablesTakeDifferentKeysForKnown) {
  constexpr std::size_t kCapacity = 5000;
  SeenKeys one(kCapacity);
  SeenKeys other(kCapacity);
  std::size_t both = 0;
  std::size_t either = 0;
  for (std::size_t i = 0; i < 20 * kCapacity; ++i) {
    const bool first = one.Note(Key("a", i));
    const bool second = other.Note(Key("a", i));
    both += first && second ? 1U : 0U;
    either += first || second ? 1U : 0U;
  }
  // A client that knows the function could look for keys that are always known.
  EXPECT_LE(both * 4, either) << either;
}

TEST(SeenKeysTest, TheMemoryIsBoundedAndAllThere) {
  for (const std::size_t capacity : {1U, 100U, 10'000U}) {
    test::allocations = 0;
    SeenKeys seen(capacity);
    EXPECT_LE(seen.Bytes(), 4 * capacity + 128);
    EXPECT_GE(seen.Bytes(), capacity) << "two filters, each with several bits for a key";
    const std::string key = Key("a-key-that-is-longer-than-a-short-string", 1);
    test::counts_allocations = true;
    for (int i = 0; i < 1000; ++i) {
      seen.Note(std::string_view(key).substr(0, static_cast<std::size_t>(i) % key.size()));
    }
    test::counts_allocations = false;
    EXPECT_EQ(test::allocations, 0U);
  }
}

TEST(SeenKeysTest, OneKeyIsTheLeast) {
  SeenKeys seen(1);
  seen.Note("/a");
  EXPECT_TRUE(seen.Note("/a"));
  try {
    const SeenKeys none(0);
    FAIL() << "0 keys";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "0 keys: at least 1");
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
