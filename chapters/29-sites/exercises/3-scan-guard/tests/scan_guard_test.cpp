// Scanners are banned, honest clients never, and the table does not grow.
#include "sites/scan_guard.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/counting_new.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

auto Traps() -> std::vector<PathPattern> {
  return {PathPattern::Prefix("/.env"), PathPattern::Regex(R"((?i).*\.php)")};
}

// Three hits in a minute are ten minutes, for four clients of a kind.
auto Limits() -> ScanLimits { return {3, seconds(60), seconds(600), 4}; }

class ScanGuardTest : public testing::Test {
 protected:
  void Hit(const std::string& ip, milliseconds time, int count = 1) {
    for (int i = 0; i < count; ++i) {
      Ask(ip, "/.env", time);
    }
  }

  void Ask(const std::string& ip, std::string_view path, milliseconds time) {
    guard_.Note(NetAddress(ip, 4711), path, kStart + time);
  }

  auto IsBanned(const std::string& ip, milliseconds time) const -> bool {
    return guard_.IsBanned(NetAddress(ip, 4712), kStart + time);
  }

  const TimePoint kStart{milliseconds(1)};
  const std::string scanner_ = "203.0.113.9";
  ScanGuard guard_{Traps(), Limits()};
};

TEST_F(ScanGuardTest, TheLastOfTheHitsBans) {
  Hit(scanner_, seconds(0), 2);
  EXPECT_FALSE(IsBanned(scanner_, seconds(0)));
  Hit(scanner_, seconds(0));
  EXPECT_TRUE(IsBanned(scanner_, seconds(0)));
  EXPECT_FALSE(IsBanned("203.0.113.8", seconds(0)));
}

TEST_F(ScanGuardTest, EveryTrapCounts) {
  Ask(scanner_, "/.env", seconds(0));
  Ask(scanner_, "/.env/local", seconds(0));
  EXPECT_FALSE(IsBanned(scanner_, seconds(0)));
  Ask(scanner_, "/blog/XMLRPC.PHP", seconds(0));
  EXPECT_TRUE(IsBanned(scanner_, seconds(0)));
}

TEST_F(ScanGuardTest, AnHonestClientIsNeverBanned) {
  const std::string honest = "203.0.113.10";
  for (int i = 0; i < 1000; ++i) {
    Ask(honest, "/", seconds(i));
    Ask(honest, "/.well-known/security.txt", seconds(i));
    Ask(honest, "/.environment", seconds(i));
    Ask(honest, "/a.php.html", seconds(i));
    ASSERT_FALSE(IsBanned(honest, seconds(i)));
  }
  EXPECT_EQ(guard_.Clients(), 0U) << "nothing is remembered of it";
  Hit(scanner_, seconds(1000), 3);
  EXPECT_TRUE(IsBanned(scanner_, seconds(1000)));
  EXPECT_FALSE(IsBanned(honest, seconds(1000)));
}

TEST_F(ScanGuardTest, TheWindowSlides) {
  Hit(scanner_, seconds(0));
  Hit(scanner_, seconds(55));
  Hit(scanner_, seconds(100));
  EXPECT_FALSE(IsBanned(scanner_, seconds(100))) << "the first is 100 s old";
  Hit(scanner_, seconds(114));
  EXPECT_TRUE(IsBanned(scanner_, seconds(114))) << "three within 59 s";
}

TEST_F(ScanGuardTest, AHitLeavesTheWindowAtItsEnd) {
  Hit(scanner_, seconds(0));
  Hit(scanner_, seconds(1));
  Hit(scanner_, seconds(60));
  EXPECT_FALSE(IsBanned(scanner_, seconds(60)));
  const std::string quicker = "203.0.113.8";
  Hit(quicker, seconds(60));
  Hit(quicker, seconds(61));
  Hit(quicker, milliseconds(119'999));
  EXPECT_TRUE(IsBanned(quicker, milliseconds(119'999)));
}

TEST_F(ScanGuardTest, ABanEnds) {
  Hit(scanner_, seconds(0));
  Hit(scanner_, seconds(10), 2);
  EXPECT_TRUE(IsBanned(scanner_, milliseconds(609'999)));
  EXPECT_FALSE(IsBanned(scanner_, seconds(610)));
}

TEST_F(ScanGuardTest, HonestRequestsDoNotProlongABan) {
  Hit(scanner_, seconds(0), 3);
  for (int second = 0; second < 600; ++second) {
    Ask(scanner_, "/", seconds(second));
    ASSERT_TRUE(IsBanned(scanner_, seconds(second)));
  }
  EXPECT_FALSE(IsBanned(scanner_, seconds(600)));
}

TEST_F(ScanGuardTest, WhatKeepsOnScanningStaysBanned) {
  Hit(scanner_, seconds(0), 3);
  for (int second = 599; second < 6000; second += 599) {
    ASSERT_TRUE(IsBanned(scanner_, seconds(second)));
    Hit(scanner_, seconds(second));  // never two in a window
  }
  EXPECT_TRUE(IsBanned(scanner_, seconds(5990 + 599)));
  EXPECT_FALSE(IsBanned(scanner_, seconds(5990 + 600)));
}

TEST_F(ScanGuardTest, AfterItsBanAClientHasNoHits) {
  ScanGuard guard(Traps(), {3, seconds(60), seconds(5), 4});
  const NetAddress client(scanner_, 80);
  const auto hit = [&](int second) { guard.Note(client, "/.env", kStart + seconds(second)); };
  for (int i = 0; i < 5; ++i) {
    hit(0);
  }
  ASSERT_TRUE(guard.IsBanned(client, kStart));
  hit(5);
  hit(5);
  EXPECT_FALSE(guard.IsBanned(client, kStart + seconds(5)));
  hit(5);
  EXPECT_TRUE(guard.IsBanned(client, kStart + seconds(5)));
}

TEST_F(ScanGuardTest, OneHitIsEnoughIfTheLimitsSaySo) {
  ScanGuard guard(Traps(), {1, seconds(60), seconds(600), 1});
  const NetAddress client(scanner_, 80);
  guard.Note(client, "/", kStart);
  EXPECT_FALSE(guard.IsBanned(client, kStart));
  guard.Note(client, "/.env", kStart);
  EXPECT_TRUE(guard.IsBanned(client, kStart));
}

TEST_F(ScanGuardTest, ASubnetOf64BitsIsOneClient) {
  Hit("2001:db8:0:1::1", seconds(0));
  Hit("2001:db8:0:1::2", seconds(0));
  Hit("2001:db8:0:1:ffff::3", seconds(0));
  EXPECT_TRUE(IsBanned("2001:db8:0:1:abcd:ef01:2345:6789", seconds(0)));
  EXPECT_FALSE(IsBanned("2001:db8:0:2::1", seconds(0)));
  EXPECT_FALSE(IsBanned("2001:db8::1", seconds(0)));
}

TEST_F(ScanGuardTest, BothFormsOfAnIpv4AddressAreOneClient) {
  Hit("::ffff:203.0.113.9", seconds(0));
  Hit("203.0.113.9", seconds(0));
  Hit("::ffff:203.0.113.9", seconds(0));
  EXPECT_TRUE(IsBanned("203.0.113.9", seconds(0)));
  EXPECT_TRUE(IsBanned("::ffff:203.0.113.9", seconds(0)));
  EXPECT_FALSE(IsBanned("::ffff:203.0.113.8", seconds(0)));
  EXPECT_FALSE(IsBanned("::1", seconds(0)));
}

TEST_F(ScanGuardTest, AClientWithoutAnAddressIsNeverBanned) {
  NetAddress local;
  local.Data()->sa_family = AF_UNIX;
  *local.Length() = sizeof(sa_family_t);
  for (const NetAddress& client : {NetAddress(), local}) {
    for (int i = 0; i < 10; ++i) {
      guard_.Note(client, "/.env", kStart);
    }
    EXPECT_FALSE(guard_.IsBanned(client, kStart));
  }
  EXPECT_EQ(guard_.Clients(), 0U);
  Hit(scanner_, seconds(0));
  EXPECT_EQ(guard_.Clients(), 1U);
}

TEST_F(ScanGuardTest, TheTableDoesNotGrow) {
  for (int i = 0; i < 50'000; ++i) {
    const std::string ip = "10." + std::to_string(i / 65536) + "." + std::to_string(i / 256 % 256) +
                           "." + std::to_string(i % 256);
    Hit(ip, milliseconds(i), i % 2 == 0 ? 1 : 3);
    ASSERT_LE(guard_.Clients(), 8U);
  }
  Hit("10.1.0.0", seconds(50));
  EXPECT_EQ(guard_.Clients(), 8U) << "four of each kind";
}

TEST_F(ScanGuardTest, ASuspectThatIsBannedIsRememberedOnce) {
  Hit(scanner_, seconds(0), 2);
  EXPECT_EQ(guard_.Clients(), 1U);
  Hit(scanner_, seconds(0));
  EXPECT_EQ(guard_.Clients(), 1U);
}

TEST_F(ScanGuardTest, NoNumberOfSuspectsEndsABan) {
  Hit(scanner_, seconds(0), 3);
  for (int i = 0; i < 200; ++i) {
    Hit("10.0.0." + std::to_string(i), seconds(1), 2);
  }
  EXPECT_TRUE(IsBanned(scanner_, seconds(1)));
}

TEST_F(ScanGuardTest, TheSuspectWhoseLastHitIsTheOldestIsForgotten) {
  for (const char* const ip : {"10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"}) {
    Hit(ip, seconds(0));
  }
  Hit("10.0.0.1", seconds(1));
  Ask("10.0.0.2", "/", seconds(2));
  Hit("10.0.0.5", seconds(3));  // in place of 10.0.0.2
  Hit("10.0.0.1", seconds(4));
  EXPECT_TRUE(IsBanned("10.0.0.1", seconds(4)));
  Hit("10.0.0.3", seconds(4), 2);
  EXPECT_TRUE(IsBanned("10.0.0.3", seconds(4)));
  Hit("10.0.0.2", seconds(4), 2);
  EXPECT_FALSE(IsBanned("10.0.0.2", seconds(4))) << "its first hit is forgotten";
}

TEST_F(ScanGuardTest, TheBannedClientWhoseLastHitIsTheOldestIsForgotten) {
  for (const char* const ip : {"10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"}) {
    Hit(ip, seconds(0), 3);
  }
  Hit("10.0.0.1", seconds(1));
  EXPECT_TRUE(IsBanned("10.0.0.2", seconds(2))) << "that is not a hit";
  Hit("10.0.0.5", seconds(3), 3);
  EXPECT_FALSE(IsBanned("10.0.0.2", seconds(3)));
  for (const char* const ip : {"10.0.0.1", "10.0.0.3", "10.0.0.4", "10.0.0.5"}) {
    EXPECT_TRUE(IsBanned(ip, seconds(3))) << ip;
  }
}

TEST_F(ScanGuardTest, LookingAllocatesNothing) {
  Hit("2001:db8::1", seconds(0), 3);
  const NetAddress banned("2001:db8::1", 80);
  const NetAddress other("198.51.100.1", 80);
  test::allocations = 0;
  test::counts_allocations = true;
  const bool is_banned = guard_.IsBanned(banned, kStart);
  const bool is_other = guard_.IsBanned(other, kStart);
  test::counts_allocations = false;
  EXPECT_EQ(test::allocations, 0U);
  EXPECT_TRUE(is_banned);
  EXPECT_FALSE(is_other);
}

// The memory of a table without a limit.
struct Known {
  std::vector<TimePoint> hits;
  TimePoint end{};
};

TEST_F(ScanGuardTest, ItAgreesWithATableOfAnySize) {
  constexpr unsigned kSeed = 29;
  std::mt19937 random(kSeed);
  std::map<int, Known> known;
  TimePoint now = kStart + hours(1);
  ScanGuard guard(Traps(), {4, seconds(60), seconds(90), 8});
  int bans = 0;
  for (int i = 0; i < 20'000; ++i) {
    now += milliseconds(random() % 6000);
    const auto number = static_cast<int>(random() % 8);
    const NetAddress client("192.0.2." + std::to_string(number), 80);
    Known& its = known[number];
    ASSERT_EQ(guard.IsBanned(client, now), now < its.end) << i;
    const bool is_trap = random() % 2 == 0;
    guard.Note(client, is_trap ? "/login.php" : "/login", now);
    if (is_trap && now < its.end) {
      its.end = now + seconds(90);
    } else if (is_trap) {
      its.hits.push_back(now);
      const auto in_window = std::count_if(its.hits.begin(), its.hits.end(),
                                           [&](TimePoint hit) { return now - hit < seconds(60); });
      if (in_window == 4) {
        its = {{}, now + seconds(90)};
        ++bans;
      }
    }
    ASSERT_EQ(guard.IsBanned(client, now), now < its.end) << i;
  }
  EXPECT_GT(bans, 100);
}

TEST(ScanGuardRefusalTest, NamesTheValue) {
  const auto refusal = [](const ScanLimits& limits) -> std::string {
    try {
      const ScanGuard guard({}, limits);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal({}), "");
  EXPECT_EQ(refusal({1, seconds(1), seconds(1), 1}), "");
  EXPECT_EQ(refusal({100, hours(24), hours(24 * 365), 1'000'000}), "");
  EXPECT_EQ(refusal({0, seconds(60), seconds(60), 1}), "scan: 0 hits: not 1 to 100");
  EXPECT_EQ(refusal({101, seconds(60), seconds(60), 1}), "scan: 101 hits: not 1 to 100");
  EXPECT_EQ(refusal({1, seconds(0), seconds(60), 1}), "scan: window of 0 s: not 1 to 86400");
  EXPECT_EQ(refusal({1, seconds(86'401), seconds(60), 1}),
            "scan: window of 86401 s: not 1 to 86400");
  EXPECT_EQ(refusal({1, seconds(60), seconds(-1), 1}), "scan: ban of -1 s: not 1 to 31536000");
  EXPECT_EQ(refusal({1, seconds(60), seconds(60), 0}), "scan: 0 clients: not 1 to 1000000");
  EXPECT_EQ(refusal({1, seconds(60), seconds(60), 1'000'001}),
            "scan: 1000001 clients: not 1 to 1000000");
}

}  // namespace
}  // namespace TURTLE_SERVER
