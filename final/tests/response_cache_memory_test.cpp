// A response cache that runs out of memory: it may keep nothing and refuse a client, but no client
// waits forever, and nothing is left behind.
#include <gtest/gtest.h>

#include <chrono>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "support/cached_server.h"
#include "support/captured_stderr.h"
#include "support/failing_new.h"

namespace TURTLE_SERVER {
namespace {

using test::CachedServer;
using test::Get;
using test::HttpClient;
using test::HttpReply;

// Plays a response for which others wait, while `count` allocations fail, beginning with number
// `first`. @return how many have failed.
auto PlayWithout(std::size_t first, std::size_t count) -> std::size_t {
  test::Waiting waiting;
  CachedServer server([&waiting, first_one = true](Exchange& exchange) mutable {
    if (std::exchange(first_one, false)) {
      waiting.Keep(exchange);
    } else {
      exchange.Reply(TextResponse(200, "another"));
    }
  });
  test::LoopThread& loop = server.Server().Loop();
  HttpClient maker(server.Port());
  maker.Send(Get("/"));
  const bool is_made = loop.Await([&] { return waiting.Count() == 1; });
  HttpClient waiter(server.Port());
  waiter.Send(Get("/"));
  if (!is_made || !server.AwaitWaiting(1)) {
    throw std::runtime_error("nobody waits");
  }

  loop.Ask([&] {
    const Response response = TextResponse(200, std::string(100, 'x')).Set("Vary", "Accept");
    test::FailAllocations(first, count);
    try {
      waiting.Last()->Reply(response);
    } catch (const std::bad_alloc&) {
      waiting.Last()->Abort(500, {});
    }
  });
  std::size_t failed = 0;
  const auto stop = [&failed] {
    failed = test::StopFailing();
    return true;
  };
  EXPECT_TRUE(loop.Await(stop));
  maker.Reset();  // if no memory was left for its response, its exchange may still be open
  server.Server().Advance(std::chrono::seconds(1));
  server.Server().Advance(std::chrono::seconds(1));
  EXPECT_TRUE(server.AwaitWaiting(0)) << "allocation " << first;
  const HttpReply reply = waiter.ReadReply();
  EXPECT_TRUE(reply.status == 200 || reply.status == 500 || waiter.Ended() || waiter.WasReset())
      << "allocation " << first;
  EXPECT_EQ(server.Ask("/next", "Cache-Control: no-cache\r\n").status, 200)
      << "allocation " << first;
  return failed;
}

TEST(ResponseCacheMemoryTest, NobodyWaitsForEver) {
  const test::CapturedStderr quiet;
  for (const std::size_t count : {1U, 1000U}) {
    std::size_t first = 1;
    while (PlayWithout(first, count) != 0) {
      ++first;
    }
    EXPECT_GT(first, 10U) << "there were some to fail";
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
