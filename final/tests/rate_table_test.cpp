// A client gets its burst and its rate, exactly, and no client or thread changes that for another.
#include "sites/rate_table.h"

#include <gtest/gtest.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/counting_new.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr HashKey kKey{0x0706050403020100U, 0x0f0e0d0c0b0a0908U};
constexpr TimePoint kStart{hours(1)};
constexpr hours kYear{24 * 365};
constexpr milliseconds kServed{0};

static_assert(noexcept(std::declval<RateTable&>().Take(std::declval<const NetAddress&>(),
                                                       std::declval<TimePoint>())));

auto Limit(std::uint32_t requests, seconds per, std::uint32_t burst) -> RateLimit {
  RateLimit limit;
  limit.requests = requests;
  limit.per = per;
  limit.burst = burst;
  return limit;
}

auto Ip(const char* text, int port = 80) -> NetAddress { return {text, port}; }

// Returns an IPv4 address by its number, without parsing.
auto Numbered(std::uint32_t number) -> NetAddress {
  NetAddress address;
  auto* const v4 = reinterpret_cast<sockaddr_in*>(address.Data());
  v4->sin_family = AF_INET;
  v4->sin_addr.s_addr = htonl(number);
  *address.Length() = sizeof(sockaddr_in);
  return address;
}

// Sends requests at one time until one is refused. Returns how many were served.
auto TakeAll(RateTable& table, const NetAddress& client, TimePoint now) -> std::uint64_t {
  std::uint64_t served = 0;
  while (served < 100'000 && table.Take(client, now) == kServed) {
    ++served;
  }
  return served;
}

// Sends requests as soon as they are served, up to and at `end`. Returns how many were.
auto TakeUntil(RateTable& table, const NetAddress& client, TimePoint now, TimePoint end)
    -> std::uint64_t {
  std::uint64_t served = TakeAll(table, client, now);
  while (now < end) {
    const milliseconds wait = table.Take(client, now);
    now = std::min(now + std::max(wait, milliseconds(1)), end);
    served += TakeAll(table, client, now);
  }
  return served;
}

auto Refusal(const RateLimit& limit, std::size_t clients = 8) -> std::string {
  try {
    const RateTable table(limit, clients, kKey);
    return "none";
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

TEST(RateTableTest, ABurstIsServedAndTheNextRequestIsRefused) {
  RateTable table(Limit(10, seconds(1), 3), 8, kKey);
  const NetAddress client = Ip("192.0.2.7");
  EXPECT_EQ(table.Take(client, kStart), kServed);
  EXPECT_EQ(table.Take(client, kStart), kServed);
  EXPECT_EQ(table.Take(client, kStart), kServed);
  EXPECT_EQ(table.Take(client, kStart), milliseconds(100));
}

TEST(RateTableTest, TheWaitShrinksWithTimeAndThenOneRequestIsServed) {
  RateTable table(Limit(10, seconds(1), 3), 8, kKey);
  const NetAddress client = Ip("192.0.2.7");
  ASSERT_EQ(TakeAll(table, client, kStart), 3U);
  EXPECT_EQ(table.Take(client, kStart + milliseconds(30)), milliseconds(70));
  EXPECT_EQ(table.Take(client, kStart + milliseconds(99)), milliseconds(1));
  EXPECT_EQ(table.Take(client, kStart + microseconds(99'999)), milliseconds(1)) << "rounded up";
  EXPECT_EQ(table.Take(client, kStart + milliseconds(100)), kServed);
  EXPECT_EQ(table.Take(client, kStart + milliseconds(100)), milliseconds(100));
}

TEST(RateTableTest, ARefusedRequestCostsNothing) {
  RateTable table(Limit(10, seconds(1), 3), 8, kKey);
  const NetAddress client = Ip("192.0.2.7");
  ASSERT_EQ(TakeAll(table, client, kStart), 3U);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(table.Take(client, kStart), milliseconds(100));
  }
  EXPECT_EQ(TakeAll(table, client, kStart + milliseconds(250)), 2U);
  EXPECT_EQ(table.Take(client, kStart + milliseconds(250)), milliseconds(50));
}

TEST(RateTableTest, ABucketFillsUpToTheBurst) {
  RateTable table(Limit(10, seconds(1), 3), 8, kKey);
  const NetAddress client = Ip("192.0.2.7");
  ASSERT_EQ(TakeAll(table, client, kStart), 3U);
  EXPECT_EQ(TakeAll(table, client, kStart + milliseconds(299)), 2U);
  EXPECT_EQ(TakeAll(table, client, kStart + seconds(1)), 3U);
  for (const int years : {1, 2, 5, 10, 30}) {
    EXPECT_EQ(TakeAll(table, client, kStart + seconds(1) + years * kYear), 3U) << years;
  }
}

TEST(RateTableTest, NoRateIsRounded) {
  const RateLimit limits[] = {Limit(7, seconds(2), 3),           Limit(300, seconds(60), 3),
                              Limit(999, seconds(1), 3),         Limit(600, seconds(1), 3),
                              Limit(501, seconds(1), 3),         Limit(1000, seconds(1), 3),
                              Limit(1, seconds(1), 3),           Limit(13, seconds(7), 3),
                              Limit(86'399, seconds(86'400), 3), Limit(1, seconds(86'400), 3)};
  for (const RateLimit& limit : limits) {
    for (const auto offset : {microseconds(0), microseconds(1'234'567), microseconds(899'999)}) {
      RateTable table(limit, 8, kKey);
      const TimePoint start = kStart + offset;
      const std::uint32_t periods = 1 + 5000 / limit.requests;
      EXPECT_EQ(TakeUntil(table, Ip("192.0.2.7"), start, start + periods * limit.per),
                3U + std::uint64_t{periods} * limit.requests)
          << limit.requests << " in " << limit.per.count() << " s";
    }
  }
}

TEST(RateTableTest, AClientAtExactlyItsRateIsNeverRefused) {
  RateTable table(Limit(300, seconds(60), 1), 8, kKey);
  for (int i = 0; i < 10'000; ++i) {
    ASSERT_EQ(table.Take(Ip("192.0.2.7"), kStart + i * milliseconds(200)), kServed) << i;
  }
}

TEST(RateTableTest, AClientThatWaitsAsToldIsServedAndNotMuchSooner) {
  std::mt19937 random(29);  // NOLINT: the same numbers each time
  const auto below = [&random](std::uint32_t end) {
    return static_cast<std::uint32_t>(random() % end);
  };
  for (int i = 0; i < 5000; ++i) {
    const seconds per(1 + below(i % 2 == 0 ? 10 : 86'400));
    const auto most = static_cast<std::uint32_t>(per.count() * 1000);
    const RateLimit limit = Limit(1 + below(most), per, 1 + below(50));
    RateTable table(limit, 8, kKey);
    const TimePoint now = kStart + hours(below(300'000)) + microseconds(below(1'000'000'000));
    ASSERT_EQ(TakeAll(table, Ip("192.0.2.7"), now), limit.burst);
    const milliseconds wait = table.Take(Ip("192.0.2.7"), now);
    ASSERT_GE(wait.count(), 1);
    ASSERT_LE(wait.count(), per.count() * 1000 / limit.requests + 3);
    if (wait > milliseconds(3)) {
      ASSERT_GT(table.Take(Ip("192.0.2.7"), now + wait - milliseconds(3)), kServed);
    }
    ASSERT_EQ(table.Take(Ip("192.0.2.7"), now + wait), kServed)
        << limit.requests << " in " << per.count() << " s, wait " << wait.count();
  }
}

TEST(RateTableTest, ALoopWhoseTimeLagsGivesNothingAway) {
  RateTable table(Limit(10, seconds(1), 3), 8, kKey);
  const NetAddress client = Ip("192.0.2.7");
  ASSERT_EQ(TakeAll(table, client, kStart), 3U);
  EXPECT_EQ(table.Take(client, kStart - milliseconds(5)), milliseconds(105));
  EXPECT_EQ(table.Take(client, kStart - seconds(60)), milliseconds(60'100));
  EXPECT_EQ(table.Take(client, kStart), milliseconds(100));
}

TEST(RateTableTest, ClientsDoNotShareABucket) {
  RateTable table(Limit(1, seconds(1), 2), 8, kKey);  // one set
  const char* const clients[] = {"192.0.2.7",       "192.0.2.8",   "7.2.0.192", "2001:db8::1",
                                 "2001:db8:0:1::1", "2001:db9::1", "c000:207::"};
  for (const char* client : clients) {
    EXPECT_EQ(TakeAll(table, Ip(client), kStart), 2U) << client;
  }
  for (const char* client : clients) {
    EXPECT_EQ(TakeAll(table, Ip(client), kStart), 0U) << client;
  }
}

TEST(RateTableTest, APortIsNoClient) {
  RateTable table(Limit(1, seconds(1), 2), 8, kKey);
  EXPECT_EQ(TakeAll(table, Ip("192.0.2.7", 1024), kStart), 2U);
  EXPECT_EQ(TakeAll(table, Ip("192.0.2.7", 1025), kStart), 0U);
  EXPECT_EQ(TakeAll(table, Ip("2001:db8::1", 1024), kStart), 2U);
  EXPECT_EQ(TakeAll(table, Ip("2001:db8::1", 1025), kStart), 0U);
}

TEST(RateTableTest, ASlash64OfIpv6IsOneClient) {
  RateTable table(Limit(1, seconds(1), 2), 8, kKey);
  EXPECT_EQ(TakeAll(table, Ip("2001:db8:1:2::1"), kStart), 2U);
  EXPECT_EQ(TakeAll(table, Ip("2001:db8:1:2::2"), kStart), 0U);
  EXPECT_EQ(TakeAll(table, Ip("2001:db8:1:2:ffff:ffff:ffff:ffff"), kStart), 0U);
  EXPECT_EQ(TakeAll(table, Ip("2001:db8:1:3::1"), kStart), 2U) << "the last bit of the prefix";
}

TEST(RateTableTest, AnIpv4AddressIsOneClientInBothForms) {
  RateTable table(Limit(1, seconds(1), 2), 8, kKey);
  EXPECT_EQ(TakeAll(table, Ip("::ffff:192.0.2.7"), kStart), 2U);
  EXPECT_EQ(TakeAll(table, Ip("192.0.2.7"), kStart), 0U);
  EXPECT_EQ(TakeAll(table, Ip("::ffff:192.0.2.8"), kStart), 2U) << "not one /64";
}

TEST(RateTableTest, AClientWithoutAnAddressHasNoLimit) {
  RateTable table(Limit(1, seconds(1), 1), 8, kKey);
  NetAddress local;
  local.Data()->sa_family = AF_UNIX;
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(table.Take(local, kStart), kServed);
    ASSERT_EQ(table.Take(NetAddress(), kStart), kServed);
  }
}

TEST(RateTableTest, TheFullestBucketGivesWay) {
  for (std::uint32_t fullest = 0; fullest < 8; ++fullest) {
    RateTable table(Limit(1, seconds(1), 9), 8, kKey);
    for (std::uint32_t i = 0; i < 8; ++i) {
      for (std::uint32_t j = 0; j < (i == fullest ? 3U : 4U + i % 3); ++j) {
        ASSERT_EQ(table.Take(Numbered(i), kStart), kServed);
      }
    }
    ASSERT_EQ(table.Take(Numbered(100), kStart), kServed);
    for (std::uint32_t i = 0; i < 8; ++i) {
      if (i != fullest) {
        EXPECT_EQ(TakeAll(table, Numbered(i), kStart), 5U - i % 3) << i;
      }
    }
    EXPECT_EQ(TakeAll(table, Numbered(100), kStart), 8U);
    EXPECT_EQ(TakeAll(table, Numbered(fullest), kStart), 9U) << "forgotten";
  }
}

TEST(RateTableTest, AMillionAddressesDoNotMakeItForgetABusyClient) {
  RateTable table(Limit(1, seconds(1), 10), 64, kKey);
  const NetAddress busy = Ip("192.0.2.7");
  std::uint32_t next = 0;
  const auto flood = [&table, &next](int count, TimePoint now) {
    for (int i = 0; i < count; ++i) {
      ASSERT_EQ(table.Take(Numbered(next++), now), kServed);
    }
  };
  ASSERT_EQ(TakeAll(table, busy, kStart), 10U);
  flood(1'000'000, kStart);
  EXPECT_EQ(table.Take(busy, kStart), seconds(1));
  flood(50'000, kStart + milliseconds(8900));  // lacks 1.1 requests
  EXPECT_EQ(TakeAll(table, busy, kStart + milliseconds(8900)), 8U);
  flood(50'000, kStart + milliseconds(18'000));  // lacks 0.9
  EXPECT_EQ(TakeAll(table, busy, kStart + milliseconds(18'000)), 10U) << "9 and the documented one";
}

TEST(RateTableTest, ATableThatIsAQuarterFullForgetsHardlyAnyClient) {
  // A quarter of the words: hardly any set of eight gets more than eight clients.
  constexpr std::uint32_t kCount = RateTable::kClients / 4;
  RateTable table(Limit(1, seconds(1), 2), RateTable::kClients, kKey);
  for (std::uint32_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(TakeAll(table, Numbered(i), kStart), 2U);
  }
  std::uint32_t forgotten = 0;
  for (std::uint32_t i = 0; i < kCount; ++i) {
    forgotten += table.Take(Numbered(i), kStart) == kServed ? 1 : 0;
  }
  EXPECT_LT(forgotten, kCount / 1000);
}

TEST(RateTableTest, TakingAllocatesNothing) {
  RateTable table(Limit(1, seconds(1), 1), RateTable::kClients, kKey);
  test::counts_allocations = true;
  { const std::string counted(100, 'x'); }
  const std::size_t control = test::allocations.exchange(0);
  for (std::uint32_t i = 0; i < 200'000; ++i) {
    table.Take(Numbered(i), kStart);
    table.Take(Numbered(i), kStart);
  }
  test::counts_allocations = false;
  EXPECT_GT(control, 0U);
  EXPECT_EQ(test::allocations, 0U);
}

// Runs a function on several threads at once.
template <typename Function>
void OnThreads(int count, Function function) {
  std::atomic<int> missing{count};
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&missing, &function, i] {
      --missing;
      while (missing > 0) {
        std::this_thread::yield();
      }
      function(i);
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

// In these tests no request loses its word kAttempts times: a burst has fewer requests than that.
constexpr std::uint32_t kBurst = 50;

TEST(RateTableTest, ThreadsTogetherServeOneBurst) {
  RateTable table(Limit(1, seconds(1), kBurst), 8, kKey);
  for (std::uint32_t round = 0; round < 300; ++round) {
    std::atomic<std::uint64_t> served{0};
    // A client for each round: the first request is part of the race. All see the same free word.
    OnThreads(4, [&](int /*thread*/) {
      for (std::uint32_t i = 0; i < 4 * kBurst; ++i) {
        served += table.Take(Numbered(round), kStart + round * hours(1)) == kServed ? 1 : 0;
      }
    });
    ASSERT_EQ(served, kBurst) << "in round " << round;
  }
}

TEST(RateTableTest, AFloodOnOtherThreadsGivesABusyClientNothing) {
  RateTable table(Limit(1, seconds(1), kBurst), 8, kKey);
  const NetAddress busy = Ip("192.0.2.7");
  for (std::uint32_t round = 0; round < 100; ++round) {
    const TimePoint now = kStart + round * hours(1);
    std::atomic<std::uint64_t> served{2};
    ASSERT_EQ(table.Take(busy, now), kServed);
    ASSERT_EQ(table.Take(busy, now), kServed);  // from here on, no stranger's bucket is emptier
    OnThreads(4, [&](int thread) {
      for (std::uint32_t i = 0; i < 1000; ++i) {
        if (thread < 2) {
          table.Take(Numbered(static_cast<std::uint32_t>(thread) << 24 | i), now);
        } else {
          served += table.Take(busy, now) == kServed ? 1 : 0;
        }
      }
    });
    ASSERT_EQ(served, kBurst) << "in round " << round;
  }
}

TEST(RateTableTest, ManyNewClientsOnManyThreadsGainAtMostARequestForEachThread) {
  constexpr int kThreads = 4;
  RateTable table(Limit(1, seconds(1), kBurst), 8, kKey);
  for (std::uint32_t round = 0; round < 100; ++round) {
    std::array<std::atomic<std::uint64_t>, 6> served{};  // fewer than words: none is displaced
    OnThreads(kThreads, [&](int thread) {
      for (std::uint32_t i = 0; i < 6 * 2 * kBurst; ++i) {
        const std::uint32_t client = (i + static_cast<std::uint32_t>(thread)) % 6;
        // Buckets of the last round fill up while this one runs, in another order on each thread.
        const TimePoint now = kStart + round * seconds(kBurst);
        served[client] += table.Take(Numbered(6 * (round % 2) + client), now) == kServed ? 1 : 0;
      }
    });
    for (const std::atomic<std::uint64_t>& count : served) {
      ASSERT_GE(count, kBurst);
      ASSERT_LE(count, kBurst + kThreads) << "in round " << round;
    }
  }
}

TEST(RateTableTest, AClockOfAnyAgeWillDo) {
  for (int years = 0; years < 200; ++years) {
    RateTable table(Limit(10, seconds(1), 3), 8, kKey);
    const TimePoint now = TimePoint() + years * kYear;
    for (std::uint32_t i = 0; i < 8; ++i) {
      ASSERT_EQ(TakeAll(table, Numbered(i), now), 3U) << years;
      ASSERT_EQ(table.Take(Numbered(i), now), milliseconds(100)) << years;
    }
    ASSERT_EQ(TakeAll(table, Numbered(0), now + milliseconds(200)), 2U) << years;
  }
}

TEST(RateTableTest, TheTimeOfAWordWrapsUnnoticed) {
  const TimePoint wrap{milliseconds(std::int64_t{1} << 40)};  // a step is a millisecond here
  for (int before = -10; before <= 400; ++before) {
    RateTable table(Limit(10, seconds(1), 3), 8, kKey);
    const TimePoint now = wrap - milliseconds(before);
    for (std::uint32_t i = 0; i < 8; ++i) {
      ASSERT_EQ(TakeAll(table, Numbered(i), now), 3U) << before;
    }
    ASSERT_EQ(table.Take(Numbered(0), now), milliseconds(100)) << before;
    ASSERT_EQ(table.Take(Numbered(0), now + milliseconds(99)), milliseconds(1)) << before;
    ASSERT_EQ(TakeAll(table, Numbered(0), now + milliseconds(299)), 2U) << before;
    ASSERT_EQ(TakeAll(table, Numbered(1), now + milliseconds(300)), 3U) << before;
    ASSERT_EQ(TakeAll(table, Numbered(2), now + kYear), 3U) << before;
  }
}

TEST(RateTableTest, TheLongestBurstIsOneOfAYear) {
  RateTable table(Limit(1, hours(24), 365), 8, kKey);
  EXPECT_EQ(TakeAll(table, Ip("192.0.2.7"), kStart), 365U);
  EXPECT_EQ(table.Take(Ip("192.0.2.7"), kStart), hours(24));
  EXPECT_EQ(TakeAll(table, Ip("192.0.2.7"), kStart + hours(24 * 364)), 364U);
}

TEST(RateTableTest, ALimitOutOfRangeIsRefused) {
  EXPECT_EQ(Refusal(Limit(1, seconds(1), 1)), "none");
  EXPECT_EQ(Refusal(Limit(1000, seconds(1), 0xffffffffU)), "none");
  EXPECT_EQ(Refusal(Limit(86'400'000, hours(24), 1)), "none");
  EXPECT_EQ(Refusal(Limit(0, seconds(1), 1)), "rate: 0 requests in 1 s: not 1, to 1000 a second");
  EXPECT_EQ(Refusal(Limit(2001, seconds(2), 1)),
            "rate: 2001 requests in 2 s: not 1, to 1000 a second");
  EXPECT_EQ(Refusal(Limit(1, seconds(0), 1)), "rate: per 0 s: not 1 s to 1 day");
  EXPECT_EQ(Refusal(Limit(1, seconds(-1), 1)), "rate: per -1 s: not 1 s to 1 day");
  EXPECT_EQ(Refusal(Limit(1, seconds(86'401), 1)), "rate: per 86401 s: not 1 s to 1 day");
  EXPECT_EQ(Refusal(Limit(1, seconds(1), 0)), "rate: burst 0: not 1, to the requests of a year");
  EXPECT_EQ(Refusal(Limit(1, hours(24), 366)), "rate: burst 366: not 1, to the requests of a year");
  for (const std::size_t clients : {0U, 4U, 7U, 12U, 65'535U}) {
    EXPECT_EQ(Refusal(Limit(1, seconds(1), 1), clients),
              "rate: " + std::to_string(clients) + " clients: not a power of two from 8 on");
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
