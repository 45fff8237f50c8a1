#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <utility>

#include "bench/body_digest.h"

namespace TURTLE_SERVER {
namespace {

auto DigestOf(std::string_view bytes) -> std::uint64_t {
  BodyDigest digest;
  digest.Add(bytes);
  return digest.Value();
}

auto SomeBytes(std::size_t size) -> std::string {
  std::mt19937 random(static_cast<unsigned>(size));
  std::string bytes;
  for (std::size_t i = 0; i < size; ++i) {
    bytes += static_cast<char>(random());
  }
  return bytes;
}

TEST(BodyDigestTest, TheCutsDoNotMatter) {
  std::mt19937 random(3);
  for (const std::size_t size : {0U, 1U, 31U, 32U, 33U, 64U, 200U, 1000U}) {
    const std::string bytes = SomeBytes(size);
    for (int round = 0; round < 200; ++round) {
      BodyDigest digest;
      std::string_view rest = bytes;
      while (!rest.empty()) {
        const std::size_t count = std::min<std::size_t>(random() % 70, rest.size());
        digest.Add(rest.substr(0, count));
        rest.remove_prefix(count);
        EXPECT_EQ(digest.Size(), size - rest.size());
      }
      ASSERT_EQ(digest.Value(), DigestOf(bytes)) << size;
    }
  }
}

TEST(BodyDigestTest, EveryBitCounts) {
  const std::string bytes = SomeBytes(100);
  std::set<std::uint64_t> seen{DigestOf(bytes)};
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string other = bytes;
    other[bit / 8] = static_cast<char>(other[bit / 8] ^ (1 << bit % 8));
    EXPECT_TRUE(seen.insert(DigestOf(other)).second) << bit;
  }
}

TEST(BodyDigestTest, TwoBitsDoNotCancelOut) {
  const std::string bytes = SomeBytes(96);
  for (std::size_t distance = 8; distance < bytes.size(); distance += 8) {
    std::string other = bytes;
    other[7] = static_cast<char>(other[7] ^ 0x80);
    other[7 + distance] = static_cast<char>(other[7 + distance] ^ 0x80);
    EXPECT_NE(DigestOf(bytes), DigestOf(other)) << distance;
  }
}

TEST(BodyDigestTest, LengthAndOrderCount) {
  std::set<std::uint64_t> seen;
  for (std::size_t size = 0; size < 100; ++size) {
    EXPECT_TRUE(seen.insert(DigestOf(std::string(size, '\0'))).second) << size;
  }
  const std::string bytes = SomeBytes(64);
  for (std::size_t word = 8; word < 64; word += 8) {
    std::string swapped = bytes;
    for (std::size_t i = 0; i < 8; ++i) {
      std::swap(swapped[i], swapped[word + i]);
    }
    EXPECT_TRUE(seen.insert(DigestOf(swapped)).second) << word;
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
