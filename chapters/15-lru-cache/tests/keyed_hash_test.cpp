#include "base/keyed_hash.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>

namespace TURTLE_SERVER {
namespace {

// The key 00 01 02 … 0f of the published vectors.
constexpr HashKey kReferenceKey{0x0706050403020100U, 0x0f0e0d0c0b0a0908U};

auto Ascending(std::size_t count) -> std::string {
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i) {
    bytes += static_cast<char>(i);
  }
  return bytes;
}

// Appendix A of the SipHash paper and vectors.h of the reference implementation.
TEST(KeyedHashTest, AgreesWithThePublishedVectors) {
  EXPECT_EQ((SipHash<2, 4>(kReferenceKey, "")), 0x726fdb47dd0e0e31U);
  EXPECT_EQ((SipHash<2, 4>(kReferenceKey, Ascending(1))), 0x74f839c593dc67fdU);
  EXPECT_EQ((SipHash<2, 4>(kReferenceKey, Ascending(7))), 0xab0200f58b01d137U);
  EXPECT_EQ((SipHash<2, 4>(kReferenceKey, Ascending(8))), 0x93f5f5799a932462U);
  EXPECT_EQ((SipHash<2, 4>(kReferenceKey, Ascending(15))), 0xa129ca6149be45e5U);
  EXPECT_EQ((SipHash<1, 3>(kReferenceKey, "")), 0xabac0158050fc4dcU);
}

TEST(KeyedHashTest, DependsOnTheKey) {
  const KeyedHash one(HashKey{1, 2});
  const KeyedHash other(HashKey{1, 3});
  EXPECT_EQ(one("/index.html"), KeyedHash(HashKey{1, 2})("/index.html"));
  EXPECT_NE(one("/index.html"), other("/index.html"));
  EXPECT_NE(KeyedHash()("/index.html"), KeyedHash()("/index.html"));
}

TEST(KeyedHashTest, TheLengthCounts) {
  const KeyedHash hash(kReferenceKey);
  std::set<std::uint64_t> hashes;
  for (std::size_t length = 0; length <= 64; ++length) {
    hashes.insert(hash(std::string(length, '\0')));
  }
  EXPECT_EQ(hashes.size(), 65U);
}

// A table uses the lowest bits: similar keys must not gather there.
TEST(KeyedHashTest, SpreadsOverTheLowBits) {
  const KeyedHash hash(kReferenceKey);
  std::array<int, 64> buckets{};
  for (int i = 0; i < 64 * 100; ++i) {
    ++buckets[hash("/img/" + std::to_string(i) + ".png") % buckets.size()];
  }
  for (const int count : buckets) {
    EXPECT_GT(count, 50);  // 100 on average, with a deviation of 10
    EXPECT_LT(count, 150);
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
