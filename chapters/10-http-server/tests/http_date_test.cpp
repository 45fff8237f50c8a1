#include "http/http_date.h"

#include <gtest/gtest.h>

#include <array>
#include <ctime>
#include <random>
#include <string>

namespace TURTLE_SERVER {
namespace {

constexpr HttpTime kExample{784111777};  // the date of RFC 9110

auto Format(HttpTime time) -> std::string {
  std::string text;
  AppendHttpDate(time, text);
  return text;
}

// Formats the time with the C library, in the C locale.
auto Reference(HttpTime time) -> std::string {
  const auto seconds = static_cast<std::time_t>(time.count());
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 64> text{};
  const std::size_t length =
      std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  return {text.data(), length};
}

TEST(HttpDateTest, WritesTheFormOfTheStandard) {
  EXPECT_EQ(Format(kExample), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(Format(HttpTime(0)), "Thu, 01 Jan 1970 00:00:00 GMT");
  EXPECT_EQ(Format(HttpTime(-1)), "Wed, 31 Dec 1969 23:59:59 GMT");
  EXPECT_EQ(Format(HttpTime(951782400)), "Tue, 29 Feb 2000 00:00:00 GMT");
  EXPECT_EQ(Format(HttpTime(4294967296)), "Sun, 07 Feb 2106 06:28:16 GMT");
}

TEST(HttpDateTest, AppendsBehindWhatIsThere) {
  std::string text = "Date: ";
  AppendHttpDate(kExample, text);
  EXPECT_EQ(text, "Date: Sun, 06 Nov 1994 08:49:37 GMT");
}

TEST(HttpDateTest, StaysWithinFourDigitsOfAYear) {
  EXPECT_EQ(Format(kMaxHttpTime), "Fri, 31 Dec 9999 23:59:59 GMT");
  EXPECT_EQ(Format(kMaxHttpTime + HttpTime(1)), Format(kMaxHttpTime));
  EXPECT_EQ(Format(HttpTime::max()), Format(kMaxHttpTime));
  EXPECT_EQ(Format(kMinHttpTime), "Sat, 01 Jan 0000 00:00:00 GMT");
  EXPECT_EQ(Format(HttpTime::min()), Format(kMinHttpTime));
}

TEST(HttpDateTest, EveryDayOfFourCenturiesAgreesWithTheLibrary) {
  std::mt19937 random(1);
  for (std::int64_t day = -140000; day < 140000; ++day) {  // 1586 to 2353
    const HttpTime time(day * 86400 + random() % 86400);
    ASSERT_EQ(Format(time), Reference(time));
  }
}

TEST(CachedDateTest, FollowsTheClockInBothDirections) {
  CachedDate date;
  EXPECT_EQ(date.At(HttpTime(0)), "Thu, 01 Jan 1970 00:00:00 GMT");
  EXPECT_EQ(date.At(kExample), "Sun, 06 Nov 1994 08:49:37 GMT");
  const void* const before = date.At(kExample).data();
  EXPECT_EQ(date.At(kExample).data(), before);
  EXPECT_EQ(date.At(kExample), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(date.At(kExample + HttpTime(1)), "Sun, 06 Nov 1994 08:49:38 GMT");
  EXPECT_EQ(date.At(kExample - HttpTime(1)), "Sun, 06 Nov 1994 08:49:36 GMT");
}

}  // namespace
}  // namespace TURTLE_SERVER
