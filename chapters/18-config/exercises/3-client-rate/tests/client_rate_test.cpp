#include "core/client_rate.h"

#include <gtest/gtest.h>
#include <sys/un.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace TURTLE_SERVER {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr nanoseconds kIn{0};

auto At(nanoseconds time) -> TimePoint { return TimePoint(std::chrono::hours(1000) + time); }

auto From(const std::string& ip, int port = 1) -> NetAddress { return {ip, port}; }

TEST(ClientRateTest, ABurstAndThenOneByOne) {
  ClientRate rate(10, 3, 100);
  const NetAddress client = From("192.0.2.1");
  EXPECT_EQ(rate.Admit(client, At(milliseconds(0))), kIn);
  EXPECT_EQ(rate.Admit(client, At(milliseconds(0))), kIn);
  EXPECT_EQ(rate.Admit(client, At(milliseconds(0))), kIn);
  EXPECT_EQ(rate.Admit(client, At(milliseconds(0))), milliseconds(100));
  EXPECT_EQ(rate.Admit(client, At(milliseconds(99))), milliseconds(1));
  EXPECT_EQ(rate.Admit(client, At(milliseconds(100))), kIn);
  EXPECT_EQ(rate.Admit(client, At(milliseconds(100))), milliseconds(100));
  EXPECT_EQ(rate.Admit(client, At(milliseconds(350))), kIn);
  EXPECT_EQ(rate.Admit(client, At(milliseconds(350))), kIn);
  EXPECT_EQ(rate.Admit(client, At(milliseconds(350))), milliseconds(50)) << "half a coin was there";
}

TEST(ClientRateTest, WhoIsRefusedPaysNothing) {
  ClientRate rate(1, 1, 100);
  const NetAddress client = From("192.0.2.1");
  EXPECT_EQ(rate.Admit(client, At(seconds(0))), kIn);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(rate.Admit(client, At(milliseconds(i))), milliseconds(1000 - i));
  }
  EXPECT_EQ(rate.Admit(client, At(seconds(1))), kIn);
}

TEST(ClientRateTest, AFullBucketGetsNoFuller) {
  ClientRate rate(1000, 2, 100);
  const NetAddress client = From("192.0.2.1");
  EXPECT_EQ(rate.Admit(client, At(seconds(0))), kIn);
  const auto later = At(std::chrono::hours(24 * 365));
  EXPECT_EQ(rate.Admit(client, later), kIn);
  EXPECT_EQ(rate.Admit(client, later), kIn);
  EXPECT_EQ(rate.Admit(client, later), milliseconds(1));
}

TEST(ClientRateTest, ALittleBehind) {
  ClientRate rate(10, 2, 100);
  const NetAddress client = From("192.0.2.1");
  EXPECT_EQ(rate.Admit(client, At(milliseconds(50))), kIn);
  EXPECT_EQ(rate.Admit(client, At(milliseconds(49))), milliseconds(1));
  EXPECT_EQ(rate.Admit(client, At(milliseconds(50))), kIn);
  EXPECT_EQ(rate.Admit(client, At(milliseconds(50))), milliseconds(100));
}

TEST(ClientRateTest, WholeNanoseconds) {
  ClientRate thirds(3, 1, 100);
  const NetAddress client = From("192.0.2.1");
  EXPECT_EQ(thirds.Admit(client, At(kIn)), kIn);
  EXPECT_EQ(thirds.Admit(client, At(kIn)), nanoseconds(333'333'333));
  EXPECT_EQ(thirds.Admit(client, At(nanoseconds(333'333'332))), nanoseconds(1));
  EXPECT_EQ(thirds.Admit(client, At(nanoseconds(333'333'333))), kIn);
  ClientRate most(1'000'000'000, 1'000'000, 100);
  for (int i = 0; i < 1'000'000; ++i) {
    ASSERT_EQ(most.Admit(client, At(kIn)), kIn) << i;
  }
  EXPECT_EQ(most.Admit(client, At(kIn)), nanoseconds(1));
  ClientRate slowest(1, 1'000'000, 100);
  EXPECT_EQ(slowest.Admit(client, At(kIn)), kIn);
}

TEST(ClientRateTest, WhoIsOneClient) {
  struct Case {
    const char* one;
    const char* other;
    bool same;
  };
  const Case cases[] = {
      {"192.0.2.1", "192.0.2.1", true},
      {"192.0.2.1", "192.0.2.2", false},
      {"192.0.2.1", "::ffff:192.0.2.1", true},
      {"::ffff:192.0.2.1", "::ffff:192.0.2.2", false},
      {"2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff", true},
      {"2001:db8:1:2::1", "2001:db8:1:3::1", false},
      {"0.0.0.0", "::", false},
      {"::1", "::2", true},
      {"::ffff:0.0.0.1", "::1", false},
      {"::ffff:192.0.2.1", "::fffe:192.0.2.1", false},
      {"0.0.0.1", "0:0:0:1::", false},
      {"192.0.2.1", "c000:201::", false},
      {"192.0.2.1", "0:0:c000:201::", false},
      {"fe80::1%lo", "fe80::1", true},
  };
  for (const Case& each : cases) {
    ClientRate rate(1, 1, 100);
    EXPECT_EQ(rate.Admit(From(each.one, 1), At(kIn)), kIn);
    EXPECT_EQ(rate.Admit(From(each.other, 2), At(kIn)) != kIn, each.same)
        << each.one << " and " << each.other;
    EXPECT_EQ(rate.Size(), each.same ? 1U : 2U) << each.one << " and " << each.other;
  }
}

TEST(ClientRateTest, WhoHasNoAddressIsIn) {
  ClientRate rate(1, 1, 100);
  NetAddress path;
  path.Data()->sa_family = AF_UNIX;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(rate.Admit(path, At(kIn)), kIn);
    EXPECT_EQ(rate.Admit(NetAddress(), At(kIn)), kIn);
  }
  EXPECT_EQ(rate.Size(), 0U);
}

TEST(ClientRateTest, TheOneWhoWouldBeFullAgainFirstIsForgotten) {
  ClientRate rate(1, 3, 2);
  const NetAddress heavy = From("192.0.2.1");
  const NetAddress light = From("192.0.2.2");
  const NetAddress other = From("192.0.2.3");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(rate.Admit(heavy, At(kIn)), kIn);
  }
  EXPECT_EQ(rate.Admit(light, At(kIn)), kIn);
  EXPECT_EQ(rate.Admit(light, At(kIn)), kIn);
  EXPECT_EQ(rate.Admit(other, At(kIn)), kIn);  // instead of light
  EXPECT_EQ(rate.Size(), 2U);
  EXPECT_EQ(rate.Admit(heavy, At(kIn)), seconds(1)) << "was forgotten";
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(rate.Admit(light, At(kIn)), kIn) << "instead of other";
  }
  EXPECT_EQ(rate.Admit(light, At(kIn)), seconds(1));
  EXPECT_EQ(rate.Admit(heavy, At(kIn)), seconds(1));
  EXPECT_EQ(rate.Size(), 2U);
}

TEST(ClientRateTest, ACrowdOfStrangersFreesNobody) {
  ClientRate rate(1, 5, 10);
  const NetAddress heavy = From("192.0.2.1");
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(rate.Admit(heavy, At(kIn)), kIn);
  }
  for (int i = 0; i < 5000; ++i) {
    const std::string ip = "10.1." + std::to_string(i / 250) + "." + std::to_string(i % 250);
    EXPECT_EQ(rate.Admit(From(ip), At(nanoseconds(i))), kIn);
    ASSERT_LE(rate.Size(), 10U);
  }
  EXPECT_GT(rate.Admit(heavy, At(nanoseconds(5000))), kIn);
  EXPECT_EQ(rate.Admit(heavy, At(seconds(1))), kIn);
}

TEST(ClientRateTest, OnePlace) {
  ClientRate rate(1, 2, 1);
  EXPECT_EQ(rate.Admit(From("192.0.2.1"), At(kIn)), kIn);
  EXPECT_EQ(rate.Admit(From("192.0.2.1"), At(kIn)), kIn);
  EXPECT_EQ(rate.Admit(From("192.0.2.1"), At(kIn)), seconds(1));
  EXPECT_EQ(rate.Admit(From("192.0.2.2"), At(kIn)), kIn);
  EXPECT_EQ(rate.Size(), 1U);
  EXPECT_EQ(rate.Admit(From("192.0.2.2"), At(kIn)), kIn);
  EXPECT_EQ(rate.Admit(From("192.0.2.2"), At(kIn)), seconds(1));
}

// Compares with buckets that are counted in the slowest way, in which no client is ever forgotten.
TEST(ClientRateTest, AsIfCountedByHand) {
  std::mt19937 random(15);
  constexpr std::int64_t kCoin = 250'000'000;
  constexpr std::int64_t kBurst = 4;
  struct Bucket {
    std::int64_t level = kBurst * kCoin;  // in nanoseconds
    std::int64_t time = 0;
  };
  std::map<int, Bucket> buckets;
  ClientRate rate(4, kBurst, 16);
  std::int64_t now = 0;
  for (int i = 0; i < 20'000; ++i) {
    now += random() % 3 == 0 ? static_cast<std::int64_t>(random() % 100'000'000) : 0;
    const int client = static_cast<int>(random() % 16);
    Bucket& bucket = buckets[client];
    bucket.level = std::min(kBurst * kCoin, bucket.level + now - bucket.time);
    bucket.time = now;
    const nanoseconds wanted(std::max<std::int64_t>(0, kCoin - bucket.level));
    bucket.level -= wanted == kIn ? kCoin : 0;
    ASSERT_EQ(rate.Admit(From("10.0.0." + std::to_string(client)), At(nanoseconds(now))), wanted)
        << i;
  }
  EXPECT_EQ(rate.Size(), 16U);
}

TEST(ClientRateTest, ManyThreadsShareABucket) {
  constexpr std::uint32_t kBurst = 1000;
  ClientRate rate(1, kBurst, 8);
  std::atomic<std::uint32_t> admitted{0};
  for (; admitted < 10; ++admitted) {  // more than any of the others will ever have taken
    EXPECT_EQ(rate.Admit(From("192.0.2.1"), At(kIn)), kIn);
  }
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&rate, &admitted, i] {
      const NetAddress shared = From("192.0.2.1");
      for (int times = 0; times < 1000; ++times) {
        admitted += rate.Admit(shared, At(kIn)) == kIn ? 1 : 0;
        const std::string ip = "10.0." + std::to_string(i) + "." + std::to_string(times % 250);
        static_cast<void>(rate.Admit(From(ip), At(kIn)));
        static_cast<void>(rate.Size());
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(admitted, kBurst);
  EXPECT_EQ(rate.Size(), 8U);
}

TEST(ClientRateTest, Refusals) {
  const auto refusal = [](std::uint32_t per_second, std::uint32_t burst,
                          std::size_t clients) -> std::string {
    try {
      const ClientRate rate(per_second, burst, clients);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal(1, 1, 1), "");
  EXPECT_EQ(refusal(0, 1, 1), "0 per second: not in 1..1000000000");
  EXPECT_EQ(refusal(1'000'000'001, 1, 1), "1000000001 per second: not in 1..1000000000");
  EXPECT_EQ(refusal(1, 0, 1), "burst 0: not in 1..1000000");
  EXPECT_EQ(refusal(1, 1'000'001, 1), "burst 1000001: not in 1..1000000");
  EXPECT_EQ(refusal(1, 1, 0), "0 clients: at least 1");
}

}  // namespace
}  // namespace TURTLE_SERVER
