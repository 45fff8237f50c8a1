// A route's request allocates nothing once the loop is warm, and survives a lack of memory.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "support/captured_stderr.h"
#include "support/failing_new.h"
#include "support/http_client.h"
#include "support/running_server.h"
#include "web/reply_stream.h"

namespace TURTLE_SERVER {
namespace {

using test::FailAllocations;
using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::RunningServer;
using test::StopFailing;

TEST(RouteMemoryTest, ARequestWithParametersAllocatesNothing) {
  constexpr std::size_t kFar = 1'000'000;  // no count of allocations gets that far
  constexpr std::size_t kWarm = 10;
  std::vector<std::size_t> allocations;  // on the loop's thread, from one call to the next
  allocations.reserve(100);
  RunningServer server([&](HttpServer& http) {
    Middleware looks;
    looks.before = [](const ServerRequest&) { return std::nullopt; };
    looks.after = [](const ServerRequest&, ServerResponse& res) { res.Set("X-After", "after"); };
    http.Use(looks);
    http.Get("/users/{id:int}/{name}", [&](const ServerRequest& req, ServerResponse& res) {
      if (test::failing_new.fail != 0) {
        allocations.push_back(kFar - 1 - test::failing_new.pass);
      }
      FailAllocations(kFar);
      res.Set("X-Name", req.Parameter("name"))
          .Set("X-Query", req.Query("q").value_or("-"))
          .Set("X-Cookie", req.Cookie("c").value_or("-"))
          .Text(req.Integer("id") == 7 ? "a text that is too long for a small string" : "?");
    });
  });
  HttpClient client(server.Port());
  for (std::size_t i = 0; i < 50; ++i) {
    ASSERT_EQ(client
                  .Ask("GET /users/7/somebody%20with%20a%20name?q=a+query HTTP/1.1\r\nHost: t\r\n"
                       "Cookie: c=a-cookie-of-some-length\r\n\r\n")
                  .status,
              200);
  }
  for (std::size_t i = kWarm; i < allocations.size(); ++i) {
    EXPECT_EQ(allocations[i], 0U) << "request " << i;
  }
  EXPECT_EQ(allocations.size(), 49U);
}

// Wherever memory runs out, in a handler, in a body or in a late response: the client gets a
// complete response or an end, and the next client is served.
TEST(RouteMemoryTest, WithoutMemoryAReplyIsWholeOrNone) {
  const test::CapturedStderr errors;
  const std::string text(std::size_t{20} * 1024, 'x');
  RunningServer server([&](HttpServer& http) {
    Middleware fails;
    fails.before = [](const ServerRequest& req) {
      FailAllocations(static_cast<std::size_t>(req.Integer("n")));
      return std::nullopt;
    };
    fails.after = [](const ServerRequest&, ServerResponse&) { StopFailing(); };
    http.Use(fails);
    http.Post("/now/{n:int}", [&](const ServerRequest& req, ServerResponse& res) {
      res.Text(text + std::string(req.Body()));
    });
    http.Post("/late/{n:int}", [&](const ServerRequest& req, const Responder& responder) {
      ServerResponse response;
      responder.Reply(std::move(response.Text(text + std::string(req.Body()))));
    });
  });
  const auto ask = [&](const std::string& path) {
    HttpClient client(server.Port());
    const HttpReply reply =
        client.Ask("POST " + path + " HTTP/1.1\r\nHost: t\r\nContent-Length: 3\r\n\r\nabc");
    server.Ask([] { StopFailing(); });
    const bool right = reply.status == 200 && reply.complete && reply.body == text + "abc";
    const bool told = reply.status == 500 && reply.complete;
    const bool cut = !reply.complete && (client.Ended() || client.WasReset());
    EXPECT_TRUE(right || told || cut)
        << path << ": " << reply.status << ", " << reply.body.size() << " bytes";
    return right;
  };
  for (const std::string path : {"/now/", "/late/"}) {
    for (int first = 1; first <= 20; ++first) {
      ask(path + std::to_string(first));
    }
    EXPECT_TRUE(ask(path + "1000000")) << "no allocation comes to that";
  }
}

// Only the end of the connection tells a client of HTTP/1.0 where a body ends.
TEST(RouteMemoryTest, AStreamWithAMissingPieceIsNotTakenForAWhole) {
  const test::CapturedStderr errors;
  const std::string piece(std::size_t{20} * 1024, 'x');
  RunningServer server([&](HttpServer& http) {
    http.Get("/stream/{n:int}", [&](const ServerRequest& req, const Responder& responder) {
      const ReplyStream stream = responder.Stream(ServerResponse());
      FailAllocations(static_cast<std::size_t>(req.Integer("n")));
      stream.Write(piece);
      stream.Write("the end");
      stream.End();
    });
  });
  const auto ask = [&](int first) {
    HttpClient client(server.Port());
    const HttpReply reply =
        client.Ask("GET /stream/" + std::to_string(first) + " HTTP/1.0\r\n\r\n");
    server.Ask([] { StopFailing(); });
    const bool right = reply.status == 200 && reply.complete && reply.body == piece + "the end";
    const bool told = reply.status == 500 && reply.complete;
    const bool cut = client.WasReset() || (reply.status == 0 && client.Ended());
    EXPECT_TRUE(right || told || cut)
        << first << ": " << reply.status << ", " << reply.body.size() << " bytes";
    return right;
  };
  for (int first = 1; first <= 30; ++first) {
    ask(first);
  }
  EXPECT_TRUE(ask(1000000)) << "no allocation comes to that";
}

}  // namespace
}  // namespace TURTLE_SERVER
