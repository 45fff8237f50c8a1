#include "ops/watchdog.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>

namespace TURTLE_SERVER {
namespace {

using std::chrono::microseconds;
constexpr long kSelf = 4711;

auto FaultOf(const std::optional<std::string>& usec, const std::optional<std::string>& pid)
    -> std::string {
  try {
    static_cast<void>(WatchdogInterval(usec, pid, kSelf));
    return "";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

TEST(WatchdogTest, IsHalfOfTheLongestSilence) {
  EXPECT_EQ(WatchdogInterval("30000000", "4711", kSelf), microseconds(15'000'000));
  EXPECT_EQ(WatchdogInterval("30000000", std::nullopt, kSelf), microseconds(15'000'000));
  EXPECT_EQ(WatchdogInterval("9223372036854775807", "4711", kSelf),
            microseconds(4'611'686'018'427'387'903));
}

TEST(WatchdogTest, IsNeverNothing) {
  EXPECT_EQ(WatchdogInterval("1", "4711", kSelf), microseconds(1));
  EXPECT_EQ(WatchdogInterval("3", "4711", kSelf), microseconds(1));
}

TEST(WatchdogTest, OnlyTheProcessThatIsMeantHasOne) {
  ASSERT_EQ(WatchdogInterval("2000", "4711", kSelf), microseconds(1000));
  EXPECT_EQ(WatchdogInterval("2000", "4712", kSelf), std::nullopt);
  EXPECT_EQ(WatchdogInterval(std::nullopt, "4711", kSelf), std::nullopt);
  EXPECT_EQ(WatchdogInterval(std::nullopt, std::nullopt, kSelf), std::nullopt);
  EXPECT_EQ(WatchdogInterval("soon", "4712", kSelf), std::nullopt) << "it is none of our business";
}

TEST(WatchdogTest, AnythingElseIsNamed) {
  const std::string usec = "' is not a number from 1 to 9223372036854775807";
  const std::string pid = "' is not a number from 1 to 2147483647";
  for (const std::string text :
       {"soon", "", "0", "-1", "+1", " 1", "1 ", "1s", "9223372036854775808"}) {
    EXPECT_EQ(FaultOf(text, std::nullopt), "WATCHDOG_USEC='" + text + usec);
  }
  for (const std::string text : {"", "0", "-4711", "4711 ", "2147483648"}) {
    EXPECT_EQ(FaultOf("2000", text), "WATCHDOG_PID='" + text + pid);
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
