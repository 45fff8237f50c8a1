// Responses that take too long, and clients that do not wait for them.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/captured_stderr.h"
#include "support/clocked_server.h"
#include "support/http_client.h"
#include "web/http_server.h"
#include "web/route_handler.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::milliseconds;
using test::Get;
using test::HttpClient;
using test::HttpReply;

class LateResponseTest : public testing::Test {
 protected:
  void AddRoutes() {
    const auto keep = [this](const ServerRequest&, Responder responder) {
      if (wants_gone_) {
        responder.OnGone([this] { ++gone_; });
      }
      responders_.push_back(std::move(responder));
    };
    RouteOptions limited;
    limited.response_timeout = milliseconds(500);
    routes_.Add(Method::kGet, "/free", AsyncHandler(keep));
    routes_.Add(Method::kGet, "/limited", AsyncHandler(keep), limited);
    routes_.Add(Method::kGet, "/quick",
                SyncHandler([](const ServerRequest&, ServerResponse& res) { res.Text("quick"); }),
                limited);
    routes_.Add(
        Method::kPost, "/streaming",
        StreamingHandler([keep](const ServerRequest& request, const RequestBody&,
                                Responder responder) { keep(request, std::move(responder)); }),
        limited);
    Middleware middleware;
    middleware.error = [this](const ServerRequest&, ServerResponse&, const std::exception& error) {
      told_ = error.what();
    };
    middleware.after = [](const ServerRequest&, ServerResponse& res) { res.Set("X-After", "yes"); };
    routes_.Use(middleware);
  }

  // The kept responder of the request that came `number`th.
  auto Kept(std::size_t number) -> Responder {
    EXPECT_TRUE(server_.Loop().Await([&] { return responders_.size() > number; }));
    return server_.Loop().Ask([&] { return responders_[number]; });
  }

  auto Gone() -> int {
    return server_.Loop().Ask([this] { return gone_; });
  }

  static auto Text(const std::string& text) -> ServerResponse {
    ServerResponse response;
    response.Text(text);
    return response;
  }

  Routes routes_;
  ErrorFormats errors_;
  // The loop's.
  std::vector<Responder> responders_;
  int gone_ = 0;
  bool wants_gone_ = true;
  std::string told_;
  test::ClockedServer server_{[this](Looper&, LoopHttp& http) {
    AddRoutes();
    http.SetRoutes(std::make_unique<RouteHandler>(routes_, errors_, MethodSet()));
  }};
};

TEST_F(LateResponseTest, AResponseThatTakesTooLongIs503) {
  HttpClient client(server_.Port());
  ASSERT_TRUE(client.Send(Get("/limited")));
  const Responder late = Kept(0);
  server_.Advance(milliseconds(499));
  EXPECT_EQ(Gone(), 0);
  server_.Advance(milliseconds(1));
  const HttpReply reply = client.ReadReply();
  EXPECT_EQ(reply.status, 503);
  EXPECT_NE(reply.body.find("The response took too long."), std::string::npos);
  EXPECT_EQ(reply.Field("X-After"), "yes");
  EXPECT_EQ(server_.Loop().Ask([this] { return told_; }), "The response took too long.");
  EXPECT_EQ(Gone(), 1);
  // The next request is another one.
  ASSERT_TRUE(client.Send(Get("/free")));
  const Responder next = Kept(1);
  late.Reply(Text("late"));
  next.Reply(Text("next"));
  EXPECT_EQ(client.ReadReply().body, "next");
  EXPECT_EQ(Gone(), 1);
}

TEST_F(LateResponseTest, AResponseInTimeStopsTheClock) {
  HttpClient client(server_.Port());
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(client.Send(Get("/limited")));
    const Responder responder = Kept(i);
    server_.Advance(milliseconds(400));
    responder.Reply(Text("in time"));
    EXPECT_EQ(client.ReadReply().body, "in time");
  }
  ASSERT_TRUE(client.Send(Get("/free")));
  const Responder free = Kept(3);
  server_.Advance(milliseconds(20'000));
  free.Reply(Text("slow"));
  EXPECT_EQ(client.ReadReply().body, "slow");
  EXPECT_EQ(client.Ask(Get("/quick")).body, "quick");
  EXPECT_EQ(Gone(), 0);
}

TEST_F(LateResponseTest, WhatHasBegunMayTakeLonger) {
  HttpClient client(server_.Port());
  ASSERT_TRUE(client.Send(Get("/limited")));
  ReplyStream stream = Kept(0).Stream(Text("begun, "));
  ASSERT_TRUE(client.HasInput(milliseconds(5000)));
  server_.Advance(milliseconds(5000));
  stream.Write("and done");
  stream.End();
  EXPECT_EQ(client.ReadReply().body, "begun, and done");
  EXPECT_EQ(Gone(), 0);
}

TEST_F(LateResponseTest, AHandlerThatWaitsForABodyHasItsLimitToo) {
  HttpClient client(server_.Port());
  ASSERT_TRUE(
      client.Send("POST /streaming HTTP/1.1\r\nHost: t\r\nContent-Length: 10\r\n\r\n12345"));
  Kept(0);
  server_.Advance(milliseconds(500));
  EXPECT_EQ(client.ReadReply().status, 503);
  EXPECT_EQ(Gone(), 1);
  ASSERT_TRUE(client.Send("67890" + Get("/quick")));
  EXPECT_EQ(client.ReadReply().body, "quick") << "the rest of the body was dropped";
}

TEST_F(LateResponseTest, AClientThatHasGoneIsTold) {
  {
    HttpClient client(server_.Port());
    ASSERT_TRUE(client.Send(Get("/limited")));
    Kept(0);
    EXPECT_EQ(Gone(), 0);
  }
  ASSERT_TRUE(server_.Loop().Await([this] { return gone_ == 1; }));
  server_.Advance(milliseconds(1000));  // its timer has gone with it
  EXPECT_EQ(Gone(), 1);
  EXPECT_EQ(server_.Loop().Ask([this] { return told_; }), "");
  // Callbacks that come later are called, too, from another thread as well.
  std::atomic<int> told{0};
  const Responder late = Kept(0);
  std::thread([&] {
    late.OnGone([&] { ++told; });
    late.OnGone([&] { ++told; });
  }).join();
  ASSERT_TRUE(server_.Loop().Await([&] { return told == 2; }));
}

TEST_F(LateResponseTest, AStreamThatIsNotReadToItsEndIsTold) {
  std::optional<HttpClient> client(std::in_place, server_.Port());
  ASSERT_TRUE(client->Send(Get("/free")));
  ReplyStream stream = Kept(0).Stream(Text("begun"));
  ASSERT_TRUE(client->HasInput(milliseconds(5000)));
  EXPECT_EQ(Gone(), 0);
  client.reset();
  ASSERT_TRUE(server_.Loop().Await([this] { return gone_ == 1; }));
  EXPECT_EQ(stream.Write("more"), StreamState::kGone);
}

TEST_F(LateResponseTest, WhoHasTheAnswerIsNotGone) {
  wants_gone_ = false;
  std::atomic<int> told{0};
  {
    HttpClient client(server_.Port());
    ASSERT_TRUE(client.Send(Get("/free")));
    const Responder responder = Kept(0);
    responder.OnGone([&] { ++told; });
    responder.Reply(Text("whole"));
    EXPECT_EQ(client.ReadReply().body, "whole");
    responder.OnGone([&] { ++told; });
  }
  HttpClient client(server_.Port());
  EXPECT_EQ(client.Ask(Get("/quick")).body, "quick");
  EXPECT_EQ(told, 0);
}

TEST_F(LateResponseTest, ACallbackMayThrow) {
  wants_gone_ = false;
  const test::CapturedStderr captured;
  bool after = false;
  {
    HttpClient client(server_.Port());
    ASSERT_TRUE(client.Send(Get("/free")));
    const Responder responder = Kept(0);
    server_.Loop().Ask([&] {
      responder.OnGone([] { throw std::runtime_error("in the callback"); });
      responder.OnGone([&] { after = true; });
    });
    server_.Loop().Ask([] {});  // both are registered
  }
  ASSERT_TRUE(server_.Loop().Await([&] { return after; }));
  EXPECT_NE(captured.Text().find("OnGone() threw: in the callback"), std::string::npos);
}

TEST(LateResponse, ALimitThatIsNoneIsRefused) {
  HttpServer server(NetAddress("127.0.0.1", 0));
  const AsyncHandler handler = [](const ServerRequest&, const Responder&) {};
  RouteOptions options;
  for (const int limit : {0, -5}) {
    options.response_timeout = milliseconds(limit);
    try {
      server.Get("/slow", handler, options);
      FAIL() << limit << " was taken";
    } catch (const std::invalid_argument& error) {
      EXPECT_EQ(error.what(), "route \"/slow\": response_timeout " + std::to_string(limit) +
                                  " ms: less than a millisecond");
    }
  }
  options.response_timeout = milliseconds::max();
  EXPECT_NO_THROW(server.Get("/slow", handler, options));
}

}  // namespace
}  // namespace TURTLE_SERVER
