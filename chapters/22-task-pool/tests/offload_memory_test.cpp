// Tasks and offloaded requests when memory runs out: a response is complete or absent, and nothing
// hangs.
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>

#include "support/captured_stderr.h"
#include "support/failing_new.h"
#include "support/held_pool.h"
#include "support/http_client.h"
#include "support/running_server.h"
#include "task/task_pool.h"
#include "web/offload.h"

namespace TURTLE_SERVER {
namespace {

using test::FailAllocations;
using test::HttpClient;
using test::HttpReply;
using test::RunningServer;
using test::StopFailing;

TEST(OffloadMemoryTest, ATaskIsLeftWithoutAnAllocation) {
  TaskPoolOptions options;
  options.threads = 1;
  options.max_queued = 2;
  test::HeldPool pool(options);
  ASSERT_TRUE(pool.IsHeld());
  const auto one = MakeTask([](const PoolTask&) {});
  const auto two = MakeTask([](const PoolTask&) {});
  const auto three = MakeTask([](const PoolTask&) {});
  FailAllocations(1, 1000);
  const SubmitResult first = pool.Submit(one, {Priority::kLow});
  const SubmitResult second = pool.Submit(two, {Priority::kHigh});
  const SubmitResult third = pool.Submit(three, {});
  const bool cancelled = pool.Cancel(*one);
  const bool expired = pool.Expire(*two);
  EXPECT_EQ(StopFailing(), 0U);
  EXPECT_EQ(first, SubmitResult::kAccepted);
  EXPECT_EQ(second, SubmitResult::kAccepted);
  EXPECT_EQ(third, SubmitResult::kFull);
  EXPECT_TRUE(cancelled);
  EXPECT_TRUE(expired);
}

TEST(OffloadMemoryTest, ATaskIsOneAllocation) {
  constexpr std::size_t kFar = 1000;
  FailAllocations(kFar);
  const auto task = MakeTask([text = std::string("short")](const PoolTask&) {});
  const std::size_t allocations = kFar - 1 - test::failing_new.pass;
  StopFailing();
  EXPECT_EQ(allocations, 1U);
}

// Memory runs out on the loop, while the request is copied and queued; and on the pool's thread,
// while the response is made.
TEST(OffloadMemoryTest, WithoutMemoryAReplyIsWholeOrNone) {
  const test::CapturedStderr errors;
  const std::string text(std::size_t{20} * 1024, 'x');
  TaskPoolOptions options;
  options.threads = 1;
  TaskPool pool(options);
  pool.Start();
  RunningServer server([&](HttpServer& http) {
    Middleware fails;
    fails.before = [](const ServerRequest& req) {
      if (req.Path().substr(0, 6) == "/loop/") {
        FailAllocations(static_cast<std::size_t>(req.Integer("n")));
      }
      return std::nullopt;
    };
    fails.after = [](const ServerRequest&, ServerResponse&) { StopFailing(); };
    http.Use(fails);
    http.Post("/loop/{n:int}/{name}",
              Offload(pool, {}, [&](const ServerRequest& req, ServerResponse& res) {
                res.Text(text + std::string(req.Body()) + std::string(req.Parameter("name")));
              }));
    http.Post("/pool/{n:int}/{name}",
              Offload(pool, {}, [&](const ServerRequest& req, ServerResponse& res) {
                FailAllocations(static_cast<std::size_t>(req.Integer("n")));
                res.Text(text + std::string(req.Body()) + std::string(req.Parameter("name")));
              }));
  });
  const std::string body(40, 'b');
  const std::string name(30, 'n');
  for (const std::string path : {"/loop/", "/pool/"}) {
    int right = 0;
    for (int first = 1; first <= 40; ++first) {
      HttpClient client(server.Port());
      const HttpReply reply =
          client.Ask("POST " + path + std::to_string(first) + "/" + name +
                     " HTTP/1.1\r\nHost: t\r\nContent-Length: 40\r\n\r\n" + body);
      server.Ask([] { StopFailing(); });
      const bool whole = reply.status == 200 && reply.complete && reply.body == text + body + name;
      const bool told = reply.status == 500 && reply.complete;
      const bool cut = !reply.complete && (client.Ended() || client.WasReset());
      EXPECT_TRUE(whole || told || cut)
          << path << first << ": " << reply.status << ", " << reply.body.size() << " bytes";
      right += whole ? 1 : 0;
    }
    EXPECT_GT(right, 0) << "the last of them fail nothing any more";
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
