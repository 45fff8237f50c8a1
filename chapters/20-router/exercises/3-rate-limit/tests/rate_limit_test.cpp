#include "web/rate_limit.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/http_client.h"
#include "support/running_server.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::milliseconds;
using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::RunningServer;

constexpr Clock::duration kNow{};

// A moment, counted from any other.
auto At(int ms) -> TimePoint { return TimePoint(std::chrono::hours(1)) + milliseconds(ms); }

TEST(RateLimitTest, ABurstIsAllowedAndThenOneForEachInterval) {
  RateLimit limit({3, milliseconds(100), 10});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(limit.Take("ada", At(0)), kNow) << i;
  }
  EXPECT_EQ(limit.Take("ada", At(0)), milliseconds(100));
  EXPECT_EQ(limit.Take("ada", At(40)), milliseconds(60));
  EXPECT_EQ(limit.Take("ada", At(100)), kNow);
  EXPECT_EQ(limit.Take("ada", At(100)), milliseconds(100));
  EXPECT_EQ(limit.Take("ada", At(199)), milliseconds(1));
  EXPECT_EQ(limit.Take("ada", At(200)), kNow);
}

TEST(RateLimitTest, AClientThatRestsHasItsBurstAgainAndNoMore) {
  RateLimit limit({3, milliseconds(100), 10});
  for (const int begin : {0, 300, 100'000}) {
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(limit.Take("ada", At(begin)), kNow) << begin;
    }
    EXPECT_EQ(limit.Take("ada", At(begin)), milliseconds(100)) << begin;
  }
  EXPECT_EQ(limit.Take("ada", At(100'150)), kNow) << "one of the burst is back";
  EXPECT_EQ(limit.Take("ada", At(100'150)), milliseconds(50));
}

TEST(RateLimitTest, ARequestThatIsRefusedIsNotCounted) {
  RateLimit limit({1, milliseconds(100), 10});
  EXPECT_EQ(limit.Take("ada", At(0)), kNow);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(limit.Take("ada", At(50)), milliseconds(50));
  }
  EXPECT_EQ(limit.Take("ada", At(100)), kNow);
}

TEST(RateLimitTest, EachClientHasItsOwnCount) {
  RateLimit limit({1, milliseconds(100), 10});
  EXPECT_EQ(limit.Take("ada", At(0)), kNow);
  EXPECT_EQ(limit.Take("grace", At(0)), kNow);
  EXPECT_EQ(limit.Take("ada", At(0)), milliseconds(100));
  EXPECT_EQ(limit.Clients(), 2U);
}

TEST(RateLimitTest, TheClientThatWasSeenLongestAgoIsForgotten) {
  RateLimit limit({1, milliseconds(100), 3});
  for (const char* name : {"a", "b", "c"}) {
    EXPECT_EQ(limit.Take(name, At(0)), kNow);
  }
  EXPECT_EQ(limit.Take("a", At(1)), milliseconds(99)) << "refused, and seen";
  EXPECT_EQ(limit.Take("d", At(1)), kNow);
  EXPECT_EQ(limit.Clients(), 3U);
  EXPECT_EQ(limit.Take("a", At(2)), milliseconds(98));
  EXPECT_EQ(limit.Take("c", At(2)), milliseconds(98));
  EXPECT_EQ(limit.Take("b", At(2)), kNow) << "it was forgotten";
  for (int i = 0; i < 10'000; ++i) {
    limit.Take("stranger " + std::to_string(i), At(3));
  }
  EXPECT_EQ(limit.Clients(), 3U);
}

TEST(RateLimitTest, ALimitOfNothingIsRefused) {
  const auto message = [](RateLimitOptions options) -> std::string {
    try {
      const RateLimit limit(options);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message({0, milliseconds(1), 1}).find("burst"), std::string::npos);
  EXPECT_NE(message({1, milliseconds(0), 1}).find("interval"), std::string::npos);
  EXPECT_NE(message({1, milliseconds(1), 0}).find("max_clients"), std::string::npos);
}

TEST(RateLimitTest, ManyThreadsTakeNoMoreThanTheBurst) {
  RateLimit limit({500, milliseconds(100), 10});
  std::atomic<int> taken{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 1000; ++k) {
        taken += limit.Take("ada", At(0)) == kNow ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(taken, 500);
}

TEST(ClientKeyTest, ThePortAndTheSecondHalfOfAnIpv6AddressDoNotCount) {
  EXPECT_EQ(ClientKey(NetAddress("127.0.0.1", 1)), ClientKey(NetAddress("127.0.0.1", 2)));
  EXPECT_NE(ClientKey(NetAddress("127.0.0.1", 1)), ClientKey(NetAddress("127.0.0.2", 1)));
  EXPECT_EQ(ClientKey(NetAddress("2001:db8:1:2::1", 1)),
            ClientKey(NetAddress("2001:db8:1:2:f::9", 2)));
  EXPECT_NE(ClientKey(NetAddress("2001:db8:1:2::1", 1)),
            ClientKey(NetAddress("2001:db8:1:3::1", 1)));
  EXPECT_NE(ClientKey(NetAddress("127.0.0.1", 1)), ClientKey(NetAddress("::1", 1)));
}

TEST(LimitRateTest, AClientThatAsksTooOftenIsToldWhenToComeBack) {
  std::atomic<int> now{0};
  const auto limit = std::make_shared<RateLimit>(RateLimitOptions{2, milliseconds(1500), 10});
  RunningServer server([&](HttpServer& http) {
    http.Group("/api")
        .Use(LimitRate(limit, [&now] { return At(now); }))
        .Get("", [](const ServerRequest&, ServerResponse& res) { res.Text("fine"); });
    http.Get("/free", [](const ServerRequest&, ServerResponse& res) { res.Text("free"); });
  });
  EXPECT_EQ(HttpClient(server.Port()).Ask(Get("/api")).body, "fine");
  EXPECT_EQ(HttpClient(server.Port()).Ask(Get("/api")).body, "fine");
  const HttpReply refused = HttpClient(server.Port()).Ask(Get("/api"));
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.Field("Retry-After"), "2") << "a second and a half";
  EXPECT_EQ(HttpClient(server.Port()).Ask(Get("/free")).body, "free");
  now = 500;
  EXPECT_EQ(HttpClient(server.Port()).Ask(Get("/api")).Field("Retry-After"), "1") << "a whole one";
  now = 1500;
  EXPECT_EQ(HttpClient(server.Port()).Ask(Get("/api")).body, "fine");
}

}  // namespace
}  // namespace TURTLE_SERVER
