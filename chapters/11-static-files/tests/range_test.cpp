#include "http/range.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace TURTLE_SERVER {
namespace {

using Parts = std::vector<std::pair<std::uint64_t, std::uint64_t>>;  // offset, length
using State = RangeSet::State;

auto PartsOf(std::string_view value, std::uint64_t size) -> Parts {
  Parts parts;
  const RangeSet set = ParseRange(value, size);
  EXPECT_EQ(set.GetState() == State::kParts, set.Size() > 0) << value;
  for (const ByteRange& range : set) {
    parts.emplace_back(range.offset, range.length);
  }
  return parts;
}

auto StateOf(std::string_view value, std::uint64_t size) -> State {
  return ParseRange(value, size).GetState();
}

TEST(RangeTest, OneRange) {
  EXPECT_EQ(PartsOf("bytes=0-499", 10'000), (Parts{{0, 500}}));
  EXPECT_EQ(PartsOf("bytes=500-999", 10'000), (Parts{{500, 500}}));
  EXPECT_EQ(PartsOf("bytes=9500-", 10'000), (Parts{{9500, 500}}));
  EXPECT_EQ(PartsOf("bytes=-500", 10'000), (Parts{{9500, 500}}));
  EXPECT_EQ(PartsOf("bytes=0-0", 10'000), (Parts{{0, 1}}));
  EXPECT_EQ(PartsOf("bytes=-1", 10'000), (Parts{{9999, 1}}));
  EXPECT_EQ(PartsOf("bytes=0-", 1), (Parts{{0, 1}}));
  EXPECT_EQ(PartsOf("BYTES=0-0", 1), (Parts{{0, 1}}));
  EXPECT_EQ(PartsOf("bytes=007-0009", 100), (Parts{{7, 3}}));
}

TEST(RangeTest, WhatLiesBeyondTheEndIsCutOff) {
  EXPECT_EQ(PartsOf("bytes=50-1000", 100), (Parts{{50, 50}}));
  EXPECT_EQ(PartsOf("bytes=99-100", 100), (Parts{{99, 1}}));
  EXPECT_EQ(PartsOf("bytes=-1000", 100), (Parts{{0, 100}}));
  EXPECT_EQ(PartsOf("bytes=5-99999999999999999999999999", 100), (Parts{{5, 95}}));
  EXPECT_EQ(PartsOf("bytes=5-18446744073709551615", 100), (Parts{{5, 95}}));
  EXPECT_EQ(PartsOf("bytes=-99999999999999999999999999", 100), (Parts{{0, 100}}));
}

TEST(RangeTest, NothingInsideIsUnsatisfiable) {
  for (const char* value : {"bytes=100-", "bytes=100-200", "bytes=-0", "bytes=500-600,-0",
                            "bytes=99999999999999999999999999-", "bytes=18446744073709551616-",
                            "bytes=18446744073709551615-18446744073709551615"}) {
    EXPECT_EQ(StateOf(value, 100), State::kUnsatisfiable) << value;
  }
}

TEST(RangeTest, OfSeveralTheUnsatisfiableAreLeftOut) {
  EXPECT_EQ(PartsOf("bytes=5000-,0-9,-0", 1000), (Parts{{0, 10}}));
}

TEST(RangeTest, AnEmptyRepresentationIsSentWhole) {
  for (const char* value : {"bytes=0-", "bytes=-5", "bytes=0-0", "bytes=-0"}) {
    EXPECT_EQ(StateOf(value, 0), State::kWhole) << value;
  }
}

TEST(RangeTest, WhatIsMalformedIsIgnored) {
  for (const char* value :
       {"",           "bytes",       "bytes=",      "bytes=,",       "bytes= , ,",    "bytes=-",
        "bytes=--5",  "bytes=5",     "bytes=a-b",   "bytes=5-4",     "bytes=1-2-3",   "bytes=1 - 2",
        "bytes=+1-2", "bytes=0x1-2", "bytes=1-2,x", "bytes=1-2;3-4", "bytes=0-1,5-4", "bytes =0-1",
        "bytes:0-1",  "lines=0-1",   " bytes=0-1",  "bytes=1-2\r",   "bytes=1--2",    "0-1"}) {
    EXPECT_EQ(StateOf(value, 100), State::kWhole) << value;
  }
  EXPECT_EQ(StateOf(std::string_view("bytes=0-1\0", 10), 100), State::kWhole);
}

TEST(RangeTest, SeveralKeepTheOrderInWhichTheyWereAskedFor) {
  EXPECT_EQ(PartsOf("bytes=500-599, 0-99 ,-100", 10'000),
            (Parts{{500, 100}, {0, 100}, {9900, 100}}));
  EXPECT_EQ(PartsOf("bytes=,0-0,,\t500-500,", 10'000), (Parts{{0, 1}, {500, 1}}));
}

TEST(RangeTest, WhatOverlapsOrNearlyTouchesIsJoined) {
  EXPECT_EQ(PartsOf("bytes=0-99,50-149", 10'000), (Parts{{0, 150}}));
  EXPECT_EQ(PartsOf("bytes=0-99,100-199", 10'000), (Parts{{0, 200}}));
  EXPECT_EQ(PartsOf("bytes=100-199,0-99", 10'000), (Parts{{0, 200}}));
  EXPECT_EQ(PartsOf("bytes=0-999,10-20", 10'000), (Parts{{0, 1000}}));
  EXPECT_EQ(PartsOf("bytes=10-20,0-999", 10'000), (Parts{{0, 1000}}));
  EXPECT_EQ(PartsOf("bytes=0-99,179-199", 10'000), (Parts{{0, 200}}));             // a gap of 79
  EXPECT_EQ(PartsOf("bytes=0-99,180-199", 10'000), (Parts{{0, 100}, {180, 20}}));  // of 80
}

TEST(RangeTest, OneThatTouchesSeveralJoinsThemAll) {
  EXPECT_EQ(PartsOf("bytes=5000-5099,0-99,1000-1099,2000-2099,50-2050", 10'000),
            (Parts{{5000, 100}, {0, 2100}}));
  EXPECT_EQ(PartsOf("bytes=2000-2099,5000-5099,0-99,50-2050", 10'000),
            (Parts{{0, 2100}, {5000, 100}}));
  EXPECT_EQ(PartsOf("bytes=1000-1099,3000-3099,0-,5000-5099", 10'000), (Parts{{0, 10'000}}));
}

TEST(RangeTest, TooManyPartsAreNotServedAsParts) {
  std::string value = "bytes=";
  for (std::size_t i = 0; i < RangeSet::kMaxRanges; ++i) {
    value += std::to_string(i * 1000) + "-" + std::to_string(i * 1000 + 9) + ",";
  }
  EXPECT_EQ(PartsOf(value, 1'000'000).size(), RangeSet::kMaxRanges);
  EXPECT_EQ(StateOf(value + "900000-900009", 1'000'000), State::kWhole);
  // One more part that joins another does not count.
  EXPECT_EQ(PartsOf(value + "5-12", 1'000'000).size(), RangeSet::kMaxRanges);
}

TEST(RangeTest, AGreedyHeaderNeverCostsMoreThanTheFile) {
  std::string value = "bytes=0-";
  for (int i = 0; i < 2000; ++i) {
    value += ",0-";
  }
  EXPECT_EQ(PartsOf(value, 1000), (Parts{{0, 1000}}));
}

// Compares it with bits set one by one: the same bytes are covered (gaps may be), none twice.
TEST(RangeTest, AnyListCoversWhatWasAskedForAndNoByteTwice) {
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    const std::uint64_t size = 1 + random() % 2000;
    std::vector<bool> wanted(size);
    std::string value = "bytes=";
    for (std::size_t count = 1 + random() % 8; count > 0; --count) {
      const std::uint64_t first = random() % (2 * size);
      const std::uint64_t last = first + random() % 100;
      value += std::to_string(first) + "-" + std::to_string(last) + (count > 1 ? "," : "");
      for (std::uint64_t i = first; i <= last && i < size; ++i) {
        wanted[i] = true;
      }
    }
    const RangeSet set = ParseRange(value, size);
    std::vector<bool> covered(size);
    for (const ByteRange& range : set) {
      ASSERT_GT(range.length, 0U);
      ASSERT_LE(range.offset + range.length, size);
      for (std::uint64_t i = range.offset; i < range.offset + range.length; ++i) {
        ASSERT_FALSE(covered[i]) << value << " of " << size;
        covered[i] = true;
      }
    }
    bool any = false;
    for (std::uint64_t i = 0; i < size; ++i) {
      ASSERT_TRUE(covered[i] || !wanted[i]) << value << " of " << size << " at " << i;
      any = any || wanted[i];
    }
    ASSERT_EQ(set.GetState(), any ? State::kParts : State::kUnsatisfiable);
  }
}

TEST(RangeTest, WritesTheFieldsOfTheAnswer) {
  std::string text;
  AppendContentRange({0, 500}, 1234, text);
  EXPECT_EQ(text, "bytes 0-499/1234");
  text.clear();
  AppendContentRange({18446744073709551614U, 1}, 18446744073709551615U, text);
  EXPECT_EQ(text, "bytes 18446744073709551614-18446744073709551614/18446744073709551615");
  text.clear();
  AppendUnsatisfiedRange(1234, text);
  EXPECT_EQ(text, "bytes */1234");
}

TEST(RangeTest, WritesTheLinesAroundTheParts) {
  std::string text;
  AppendPartHead("XYZ", "text/plain", {5, 2}, 10, text);
  text += "ab";
  AppendPartHead("XYZ", "", {9, 1}, 10, text);
  text += "c";
  AppendPartsEnd("XYZ", text);
  EXPECT_EQ(text,
            "\r\n--XYZ\r\nContent-Type: text/plain\r\nContent-Range: bytes 5-6/10\r\n\r\nab"
            "\r\n--XYZ\r\nContent-Range: bytes 9-9/10\r\n\r\nc\r\n--XYZ--\r\n");
}

}  // namespace
}  // namespace TURTLE_SERVER
