#include "http/http_date.h"

#include <gtest/gtest.h>

#include <array>
#include <ctime>
#include <random>
#include <string>

namespace TURTLE_SERVER {
namespace {

constexpr HttpTime kExample{784111777};  // the date of RFC 9110
constexpr HttpTime kNow{1750000000};     // in June 2025

auto Format(HttpTime time) -> std::string {
  std::string text;
  AppendHttpDate(time, text);
  return text;
}

// Formats the time with the C library, in the C locale.
auto Reference(HttpTime time, const char* format) -> std::string {
  const auto seconds = static_cast<std::time_t>(time.count());
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 64> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), format, &parts);
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
  EXPECT_EQ(ParseHttpDate(Format(kMaxHttpTime), kNow), kMaxHttpTime);
  EXPECT_EQ(ParseHttpDate(Format(kMinHttpTime), kNow), kMinHttpTime);
}

TEST(HttpDateTest, ReadsTheThreeForms) {
  EXPECT_EQ(ParseHttpDate("Sun, 06 Nov 1994 08:49:37 GMT", kNow), kExample);
  EXPECT_EQ(ParseHttpDate("Sunday, 06-Nov-94 08:49:37 GMT", kNow), kExample);
  EXPECT_EQ(ParseHttpDate("Sun Nov  6 08:49:37 1994", kNow), kExample);
  EXPECT_EQ(ParseHttpDate("Wed Nov 16 08:49:37 1994", kNow), kExample + HttpTime(10 * 86400));
}

TEST(HttpDateTest, EveryDayOfFourCenturiesAgreesWithTheLibrary) {
  std::mt19937 random(1);
  for (std::int64_t day = -140000; day < 140000; ++day) {  // 1586 to 2353
    const HttpTime time(day * 86400 + random() % 86400);
    const std::string text = Format(time);
    ASSERT_EQ(text, Reference(time, "%a, %d %b %Y %H:%M:%S GMT"));
    ASSERT_EQ(ParseHttpDate(text, kNow), time) << text;
    ASSERT_EQ(ParseHttpDate(Reference(time, "%a %b %e %H:%M:%S %Y"), kNow), time) << text;
  }
}

TEST(HttpDateTest, TheObsoleteFormReadsEveryDayAroundNow) {
  for (std::int64_t day = -49 * 365; day < 49 * 365; ++day) {
    const HttpTime time = kNow + HttpTime(day * 86400);
    ASSERT_EQ(ParseHttpDate(Reference(time, "%A, %d-%b-%y %H:%M:%S GMT"), kNow), time) << day;
  }
}

TEST(HttpDateTest, EverySecondOfADay) {
  for (int second = 0; second < 86400; ++second) {
    const HttpTime time = kExample + HttpTime(second);
    ASSERT_EQ(ParseHttpDate(Format(time), kNow), time);
  }
}

TEST(HttpDateTest, TwoDigitsOfAYearAreNeverFarInTheFuture) {
  const auto year_of = [](const char* text, HttpTime now = kNow) {
    return Reference(ParseHttpDate(text, now).value(), "%Y");
  };
  EXPECT_EQ(year_of("Monday, 01-Jan-75 00:00:00 GMT"), "2075");
  EXPECT_EQ(year_of("Monday, 01-Jan-76 00:00:00 GMT"), "1976");
  EXPECT_EQ(year_of("Monday, 01-Jan-00 00:00:00 GMT"), "2000");
  EXPECT_EQ(year_of("Monday, 01-Jan-99 00:00:00 GMT"), "1999");
  const HttpTime in_1995(800000000);
  EXPECT_EQ(year_of("Monday, 01-Jan-45 00:00:00 GMT", in_1995), "2045");
  EXPECT_EQ(year_of("Monday, 01-Jan-46 00:00:00 GMT", in_1995), "1946");
}

TEST(HttpDateTest, ALeapSecondIsTheNextSecond) {
  EXPECT_EQ(ParseHttpDate("Sat, 31 Dec 2016 23:59:60 GMT", kNow),
            ParseHttpDate("Sun, 01 Jan 2017 00:00:00 GMT", kNow));
}

TEST(HttpDateTest, DaysThatTheirMonthDoesNotHaveAreRefused) {
  EXPECT_TRUE(ParseHttpDate("Thu, 29 Feb 2024 00:00:00 GMT", kNow));
  EXPECT_TRUE(ParseHttpDate("Tue, 29 Feb 2000 00:00:00 GMT", kNow));
  EXPECT_FALSE(ParseHttpDate("Thu, 29 Feb 1900 00:00:00 GMT", kNow));
  EXPECT_FALSE(ParseHttpDate("Thu, 29 Feb 2023 00:00:00 GMT", kNow));
  EXPECT_FALSE(ParseHttpDate("Thu, 31 Apr 2023 00:00:00 GMT", kNow));
  EXPECT_FALSE(ParseHttpDate("Thu, 32 Jan 2023 00:00:00 GMT", kNow));
  EXPECT_FALSE(ParseHttpDate("Thu, 00 Jan 2023 00:00:00 GMT", kNow));
}

TEST(HttpDateTest, WhatIsNoDateIsRefused) {
  for (const char* text : {"",
                           "0",
                           "now",
                           "784111777",
                           "Sun, 06 Nov 1994 24:00:00 GMT",
                           "Sun, 06 Nov 1994 08:60:37 GMT",
                           "Sun, 06 Nov 1994 08:49:61 GMT",
                           "Sun, 06 Nov 1994 08:49:37 UTC",
                           "Sun, 06 Nov 1994 08:49:37 +0000",
                           "Sun, 06 Nov 1994 08:49:37 GMT ",
                           " Sun, 06 Nov 1994 08:49:37 GMT",
                           "Sun, 6 Nov 1994 08:49:37 GMT",
                           "Sun,  6 Nov 1994 08:49:37 GMT",
                           "sun, 06 nov 1994 08:49:37 gmt",
                           "Sun, 06 Nov 94 08:49:37 GMT",
                           "Sun, 06-Nov-94 08:49:37 GMT",
                           "Sunday, 06 Nov 1994 08:49:37 GMT",
                           "Sun, 06 Nov -994 08:49:37 GMT",
                           "Sun, +6 Nov 1994 08:49:37 GMT",
                           "Sun Nov",
                           "Sun Nov ",
                           "Sun Nov  ",
                           "Sun Nov 6 08:49:37 1994",
                           "Sun Nov  6 08:49:37 1994 GMT",
                           "Sun Nov  6 8:49:37 1994",
                           "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT",
                           "Xyz, 06 Nov 1994 08:49:37 GMT"}) {
    EXPECT_FALSE(ParseHttpDate(text, kNow)) << text;
  }
}

// No prefix of a date is a date, and no byte of it may be another.
TEST(HttpDateTest, EveryByteCounts) {
  const std::string good = "Sun, 06 Nov 1994 08:49:37 GMT";
  for (std::size_t i = 0; i < good.size(); ++i) {
    EXPECT_FALSE(ParseHttpDate(good.substr(0, i), kNow)) << i;
    std::string bad = good;
    bad[i] = '\0';
    EXPECT_FALSE(ParseHttpDate(bad, kNow)) << i;
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
