// The counters of a server, exact to the last request, on all of its loops.
#include "ops/server_figures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "files/static_files.h"
#include "response_cache/response_cache.h"
#include "support/gate.h"
#include "support/held_pool.h"
#include "support/http_client.h"
#include "support/manual_clock.h"
#include "support/running_server.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER {
namespace {

using test::Get;
using test::HttpClient;

auto Count(const RequestTotals& totals, int status) -> std::uint64_t {
  const auto found = std::find_if(totals.statuses.begin(), totals.statuses.end(),
                                  [status](const auto& each) { return each.status == status; });
  return found == totals.statuses.end() ? 0 : found->count;
}

// Returns the sum of the counters of all loops.
auto Together(const FiguresNow& now) -> RequestTotals {
  RequestTotals all;
  all.took.resize(RequestFigures::kBounds.size() + 1);
  for (const LoopNow& loop : now.loops) {
    all.open += loop.requests.open;
    all.unanswered += loop.requests.unanswered;
    all.cut += loop.requests.cut;
    all.body_bytes += loop.requests.body_bytes;
    all.seconds += loop.requests.seconds;
    for (std::size_t i = 0; i < all.took.size(); ++i) {
      all.took[i] += loop.requests.took[i];
    }
    all.statuses.insert(all.statuses.end(), loop.requests.statuses.begin(),
                        loop.requests.statuses.end());
  }
  return all;
}

auto Replies(const RequestTotals& totals) -> std::uint64_t {
  return std::accumulate(totals.statuses.begin(), totals.statuses.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& each) { return sum + each.count; });
}

auto Took(const RequestTotals& totals) -> std::uint64_t {
  return std::accumulate(totals.took.begin(), totals.took.end(), std::uint64_t{0});
}

// A server whose requests are counted.
class CountedServer {
 public:
  explicit CountedServer(test::Answer answer, std::size_t threads = 1,
                         ClockSource clock = Clock::now)
      : server_(
            [&](HttpServer& server) {
              figures_.emplace(server, std::move(clock));
              server.Mount("/", test::Answering(std::move(answer)));
            },
            {}, threads) {}

  auto Port() -> int { return server_.Port(); }
  auto Figures() -> ServerFigures& { return *figures_; }
  auto Requests() -> RequestTotals { return Together(figures_->Read()); }
  auto Server() -> test::RunningServer& { return server_; }

 private:
  std::optional<ServerFigures> figures_;
  test::RunningServer server_;
};

// A server that serves for as long as this lives.
class Serving {
 public:
  explicit Serving(HttpServer& server) : server_(server), thread_([&server] { server.Begin(); }) {}
  Serving(const Serving&) = delete;
  auto operator=(const Serving&) -> Serving& = delete;
  ~Serving() {
    server_.Stop();
    thread_.join();
  }

 private:
  HttpServer& server_;
  std::thread thread_;
};

void Hello(Exchange& exchange) { exchange.Reply(Response(200).Body("hello")); }

TEST(ServerFiguresTest, EveryRequestIsCountedOnceOnOneOfTheLoops) {
  constexpr int kClients = 8;
  constexpr int kRequests = 200;
  CountedServer server(Hello, 4);
  std::vector<std::thread> threads;
  for (int i = 0; i < kClients; ++i) {
    threads.emplace_back([&server] {
      HttpClient client(server.Port());
      for (int n = 0; n < kRequests; ++n) {
        EXPECT_EQ(client.Ask(Get("/")).status, 200);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  const FiguresNow now = server.Figures().Read();
  ASSERT_EQ(now.loops.size(), 4U);
  const RequestTotals all = Together(now);
  EXPECT_EQ(Replies(all), kClients * kRequests);
  EXPECT_EQ(Took(all), kClients * kRequests);
  EXPECT_EQ(all.body_bytes, 5U * kClients * kRequests);
  EXPECT_EQ(all.open, 0U);
  std::uint64_t accepted = 0;
  for (const LoopNow& loop : now.loops) {
    accepted += loop.accepted;
    EXPECT_EQ(loop.accepted != 0, Replies(loop.requests) != 0);
    EXPECT_GT(loop.times.rounds, 0U);
  }
  EXPECT_EQ(accepted, static_cast<std::uint64_t>(kClients));
}

TEST(ServerFiguresTest, PipelinedRequestsAreCountedOneByOne) {
  CountedServer server(Hello);
  HttpClient client(server.Port());
  std::string many;
  for (int i = 0; i < 300; ++i) {
    many += Get("/");
  }
  ASSERT_TRUE(client.Send(many));
  for (int i = 0; i < 300; ++i) {
    ASSERT_EQ(client.ReadReply().status, 200);
  }
  EXPECT_EQ(Count(server.Requests(), 200), 300U);
}

TEST(ServerFiguresTest, EachEndHasItsNumber) {
  test::Waiting waiting;
  CountedServer server([&waiting](Exchange& exchange) {
    const std::string path(exchange.SubPath());
    if (path == "/wait") {
      waiting.Keep(exchange);
    } else if (path == "/odd") {
      exchange.Reply(Response(799));
    } else if (path == "/throws") {
      throw std::runtime_error("as it was asked to");
    } else if (path == "/cut") {
      exchange.BeginReply(Response(200), 10);
      exchange.Write("half");
      exchange.Abort(500, "too late");
    } else {
      exchange.Reply(Response(path == "/none" ? 204 : 404));
    }
  });
  EXPECT_EQ(HttpClient(server.Port()).Ask(Get("/none")).status, 204);
  EXPECT_EQ(HttpClient(server.Port()).Ask(Get("/elsewhere")).status, 404);
  EXPECT_EQ(HttpClient(server.Port()).Ask(Get("/odd")).status, 799);
  EXPECT_EQ(HttpClient(server.Port()).Ask(Get("/throws")).status, 500);
  EXPECT_FALSE(HttpClient(server.Port()).Ask(Get("/cut")).complete);
  EXPECT_EQ(HttpClient(server.Port()).Ask("what?\r\n\r\n").status, 400);
  {
    HttpClient client(server.Port());
    ASSERT_TRUE(client.Send(Get("/wait")));
    ASSERT_TRUE(server.Server().Await([&] { return waiting.Count() == 1; }));
    EXPECT_EQ(server.Requests().open, 1U);
    client.Reset();
    ASSERT_TRUE(server.Server().Await([&] { return waiting.Ended() == 1; }));
  }
  const RequestTotals all = server.Requests();
  EXPECT_EQ(all.open, 0U);
  EXPECT_EQ(all.unanswered, 1U);
  EXPECT_EQ(all.cut, 1U);
  EXPECT_EQ(Count(all, 200), 1U) << "the one that was cut";
  EXPECT_EQ(Count(all, 204), 1U);
  EXPECT_EQ(Count(all, 400), 1U) << "what is no request is answered, too";
  EXPECT_EQ(Count(all, 404), 1U);
  EXPECT_EQ(Count(all, 500), 1U);
  EXPECT_EQ(Count(all, 0), 1U) << "a number that is no status of ours";
  EXPECT_EQ(Replies(all), 6U);
  EXPECT_EQ(Took(all), 7U);
}

TEST(ServerFiguresTest, ARequestThatTookExactlyABoundIsBelowIt) {
  constexpr int kLast = static_cast<int>(RequestFigures::kBounds.size());
  test::ManualClock clock;
  CountedServer server(Hello, 1, clock.Source());
  // The loop's own clock is the real one, so this tests only what the observer does with a record.
  RequestFigures figures;
  const std::unique_ptr<ExchangeObserver> observer = CountRequests(figures, clock.Source());
  HttpClient client(server.Port());
  ASSERT_EQ(client.Ask(Get("/")).status, 200);
  server.Server().Ask([&] {
    server.Server().GetLooper().ForEachConnection([&](Connection* connection) {
      ExchangeRecord record{*connection, "GET / HTTP/1.1", nullptr};
      record.status = 200;
      for (const auto bound : RequestFigures::kBounds) {
        record.began = clock.Now() - bound;
        observer->OnEnd(record);
        record.began -= std::chrono::nanoseconds(1);
        observer->OnEnd(record);
      }
      record.began = clock.Now() + std::chrono::seconds(1);  // another clock, another time
      observer->OnEnd(record);
    });
  });
  const RequestTotals totals = figures.Read();
  ASSERT_EQ(totals.took.size(), RequestFigures::kBounds.size() + 1);
  EXPECT_EQ(totals.took[0], 2U) << "50 µs, and one that took less than nothing";
  for (int i = 1; i < kLast; ++i) {
    EXPECT_EQ(totals.took[static_cast<std::size_t>(i)], 2U) << i;
  }
  EXPECT_EQ(totals.took[kLast], 1U) << "longer than all bounds";
  double sum = 0;
  for (const auto bound : RequestFigures::kBounds) {
    sum += 2 * std::chrono::duration<double>(bound).count() + 1e-9;
  }
  EXPECT_NEAR(totals.seconds, sum, 1e-12);
  EXPECT_EQ(totals.open, 0U) << "what never began is not open less than never";
}

TEST(ServerFiguresTest, WhoWasNotLetInIsCounted) {
  ServerOptions few;
  few.threads = 1;
  few.max_connections = 1;
  HttpServer server(NetAddress("127.0.0.1", 0), {}, few);
  ServerFigures figures(server);
  server.Mount("/", test::Answering(Hello));
  const Serving serving(server);
  const int port = server.LocalAddress().Port();
  {
    HttpClient first(port);
    EXPECT_EQ(first.Ask(Get("/")).status, 200);
    EXPECT_EQ(HttpClient(port).ReadReply().status, 503);
    HttpClient(port).ReadRest();  // one is on the way out yet, so it is reset
    EXPECT_EQ(figures.Read().loops.at(0).refused, 2U);
    EXPECT_EQ(figures.Read().loops.at(0).accepted, 3U);
    EXPECT_EQ(figures.Read().blocked, 0U);
    test::Gate blocked;
    static_cast<void>(server.Loopers().front()->Post([&] {
      server.Block(CidrSet({"127.0.0.0/8"}));
      blocked.Pass();
    }));
    blocked.Open();
    ASSERT_TRUE(blocked.AwaitArrivals(1));
    HttpClient unwanted(port);
    EXPECT_EQ(unwanted.ReadReply().status, 0);
    EXPECT_TRUE(test::Await([&] { return figures.Read().blocked == 1; }));
    EXPECT_EQ(figures.Read().loops.at(0).accepted, 3U);
  }
}

TEST(ServerFiguresTest, CachesOfAllLoopsAreReadWhileTheyWorkAndWhenTheyHaveGone) {
  const test::SiteFolder folder;
  folder.Write("index.html", "hello");
  std::optional<ServerFigures> figures;
  std::optional<test::RunningServer> server;
  server.emplace(
      [&](HttpServer& http) {
        figures.emplace(http);
        StaticFilesOptions files;
        files.root = folder.Path();
        files.cache.max_bytes = 100'000;
        files.cache.check = FileCheck::kWatch;
        http.Mount("/", [files, &figures](Looper& looper) {
          auto handler = std::make_unique<StaticFiles>(looper, files);
          figures->AddCache("files", looper, handler->SharedCacheStats());
          return handler;
        });
        http.Mount("/kept", Cached(ResponseCacheOptions(), test::Answering(Hello),
                                   [&](Looper& looper, std::shared_ptr<const LruStats> stats) {
                                     figures->AddCache("responses", looper, std::move(stats));
                                   }));
      },
      HttpOptions(), 2);
  EXPECT_TRUE(test::Await([&] { return figures->Read().caches.size() == 4; }));
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(HttpClient(server->Port()).Ask(Get("/")).status, 200);
    EXPECT_EQ(HttpClient(server->Port()).Ask(Get("/kept")).status, 200);
  }
  const auto sum = [&figures](const std::string& name, Counter LruStats::*what) {
    std::uint64_t all = 0;
    for (const CacheNow& cache : figures->Read().caches) {
      all += cache.name == name ? (cache.stats.*what).Get() : 0;
    }
    return all;
  };
  EXPECT_GE(sum("files", &LruStats::hits) + sum("files", &LruStats::misses), 10U);
  EXPECT_GE(sum("responses", &LruStats::hits), 1U);
  const std::uint64_t hits = sum("responses", &LruStats::hits);
  server->Get().Stop();
  server->Join();  // its handlers are gone
  EXPECT_EQ(sum("responses", &LruStats::hits), hits);
  EXPECT_EQ(sum("files", &LruStats::entries), 0U);
  figures->AddCache("none", *server->Get().Loopers().front(), nullptr);
  EXPECT_EQ(figures->Read().caches.size(), 4U);
  server.reset();
}

TEST(ServerFiguresTest, APoolAndLogsAreReadWhereTheyAre) {
  HttpServer server(NetAddress("127.0.0.1", 0));
  ServerFigures figures(server);
  EXPECT_FALSE(figures.Read().pool);
  test::HeldPool pool(TaskPoolOptions{3, 10, std::chrono::milliseconds(1)});
  ASSERT_TRUE(pool.IsHeld());
  figures.SetPool(pool);
  ASSERT_EQ(pool.Submit(MakeTask([](const PoolTask&) {}), {}), SubmitResult::kAccepted);
  figures.AddLog("errors", [] { return std::uint64_t{7}; });
  const FiguresNow now = figures.Read();
  ASSERT_TRUE(now.pool);
  EXPECT_EQ(now.pool->queued, 1U);
  EXPECT_EQ(now.pool_threads, 3U);
  ASSERT_EQ(now.logs.size(), 1U);
  EXPECT_EQ(now.logs[0].name, "errors");
  EXPECT_EQ(now.logs[0].dropped, 7U);
  EXPECT_TRUE(now.process.cpu_seconds);
}

}  // namespace
}  // namespace TURTLE_SERVER
