#include "app/duration.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string_view>

namespace TURTLE_SERVER {
namespace {

using std::chrono::seconds;

void ExpectSeconds(std::string_view text, std::chrono::seconds::rep wanted) {
  const std::optional<seconds> read = ParseDuration(text);
  ASSERT_TRUE(read.has_value()) << text;
  EXPECT_EQ(read->count(), wanted) << text;
}

TEST(DurationTest, ANumberAloneIsSeconds) {
  ExpectSeconds("0", 0);
  ExpectSeconds("90", 90);
  ExpectSeconds("007", 7);
}

TEST(DurationTest, EachUnitCounts) {
  ExpectSeconds("90s", 90);
  ExpectSeconds("5m", 300);
  ExpectSeconds("2h", 7200);
  ExpectSeconds("3d", 259'200);
}

TEST(DurationTest, UnitsAddUp) {
  ExpectSeconds("1h30m", 5400);
  ExpectSeconds("1d1s", 86'401);
  ExpectSeconds("1d2h3m4s", 93'784);
  ExpectSeconds("0h90m", 5400);
}

TEST(DurationTest, WhatIsNotADurationIsNone) {
  ExpectSeconds("1h", 3600);
  for (const std::string_view text : {"", "s", "h1", "-1", "+1", " 1", "1 h", "1.5h", "1H", "1w",
                                      "1h30", "30m1h", "1h1h", "1hs", "1m30s5", "0x10", "1e3"}) {
    EXPECT_FALSE(ParseDuration(text).has_value()) << '"' << text << '"';
  }
}

TEST(DurationTest, WhatDoesNotFitIsNone) {
  ExpectSeconds("9223372036854775807", 9'223'372'036'854'775'807);
  ExpectSeconds("106751991167300d15h30m7s", 9'223'372'036'854'775'807);
  for (const std::string_view text :
       {"9223372036854775808", "99999999999999999999", "106751991167301d",
        "106751991167300d15h30m8s", "153722867280912931m"}) {
    EXPECT_FALSE(ParseDuration(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
