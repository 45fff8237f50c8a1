// The time limit of a route whose handler responds later.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/http_error.h"
#include "support/captured_stderr.h"
#include "support/clocked_server.h"
#include "support/http_client.h"
#include "support/running_server.h"
#include "web/route_group.h"
#include "web/route_handler.h"
#include "web/routes.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::milliseconds;
using test::ClockedServer;
using test::Get;
using test::HttpClient;
using test::HttpReply;

auto Limited(milliseconds limit) -> RouteOptions {
  RouteOptions options;
  options.response_timeout = limit;
  return options;
}

auto TextOf(std::string_view text) -> ServerResponse {
  return std::move(ServerResponse().Text(text));
}

// A server whose routes keep their Responders, and allow half a second for each.
class ResponseTimeoutTest : public testing::Test {
 protected:
  void AddRoutes() {
    routes_.Add(Method::kGet, "/late", Keep(), Limited(milliseconds(500)));
    routes_.Add(Method::kPost, "/late", Keep(), Limited(milliseconds(500)));
    routes_.Add(Method::kGet, "/patient", Keep());
    routes_.Add(Method::kGet, "/for-ever", Keep(), Limited(milliseconds::max()));
    routes_.Add(
        Method::kPost, "/pieces",
        [this](const ServerRequest&, const RequestBody& body, Responder responder) {
          body.OnPiece([this](std::string_view piece, bool) { pieces_ += piece; });
          late_.push_back(std::move(responder));
        },
        Limited(milliseconds(500)));
    routes_.Add(
        Method::kGet, "/now",
        [this](const ServerRequest&, ServerResponse& response) {
          server_.Turn(std::chrono::hours(1));
          response.Text("now");
        },
        Limited(milliseconds(500)));
  }

  auto Keep() -> AsyncHandler {
    return [this](const ServerRequest&, Responder responder) {
      late_.push_back(std::move(responder));
    };
  }

  // Returns the Responder of the next request.
  auto Take() -> Responder {
    if (!server_.Loop().Await([this] { return !late_.empty(); })) {
      throw std::runtime_error("no handler was called");
    }
    return server_.Loop().Ask([this] {
      Responder first = late_.front();
      late_.erase(late_.begin());
      return first;
    });
  }

  static auto Silent(HttpClient& client) -> bool { return !client.HasInput(milliseconds(0)); }

  Routes routes_;
  ErrorFormats errors_;
  std::vector<Responder> late_;  // on the loop's thread
  std::string pieces_;           // likewise
  ClockedServer server_{[this](Looper&, LoopHttp& http) {
    AddRoutes();
    http.SetRoutes(std::make_unique<RouteHandler>(routes_, errors_, MethodSet()));
  }};
};

TEST_F(ResponseTimeoutTest, WhatTakesTooLongIs503) {
  HttpClient client(server_.Port());
  ASSERT_TRUE(client.Send(Get("/late")));
  const Responder responder = Take();
  server_.Advance(milliseconds(499));
  EXPECT_TRUE(Silent(client));
  server_.Advance(milliseconds(1));
  const HttpReply reply = client.ReadReply();
  EXPECT_EQ(reply.status, 503);
  EXPECT_TRUE(reply.complete);
  EXPECT_NE(reply.body.find("The response took too long."), std::string::npos) << reply.body;
}

// Its client is there, and has its response.
TEST_F(ResponseTimeoutTest, AHandlerThatAsksAfterwardsIsTold) {
  HttpClient client(server_.Port());
  ASSERT_TRUE(client.Send(Get("/late")));
  const Responder responder = Take();
  server_.Advance(milliseconds(500));
  EXPECT_EQ(client.ReadReply().status, 503);
  bool told = false;
  responder.OnGone([&told] { told = true; });
  ASSERT_TRUE(server_.Loop().Await([&told] { return told; }));
}

TEST_F(ResponseTimeoutTest, WhatComesInTimeIsSent) {
  HttpClient client(server_.Port());
  for (int i = 0; i < 3; ++i) {  // each request has its own half second
    ASSERT_TRUE(client.Send(Get("/late")));
    const Responder responder = Take();
    server_.Advance(milliseconds(499));
    EXPECT_TRUE(responder.Reply(TextOf("in time")));
    EXPECT_EQ(client.ReadReply().body, "in time");
  }
  server_.Advance(milliseconds(500));
  EXPECT_TRUE(Silent(client)) << "the limit went with its request";
  EXPECT_EQ(client.Ask(Get("/now")).body, "now");
}

TEST_F(ResponseTimeoutTest, ALimitDoesNotOutliveItsRequest) {
  HttpClient client(server_.Port());
  ASSERT_TRUE(client.Send(Get("/late") + Get("/patient")));
  Take().Reply(TextOf("in time"));
  EXPECT_EQ(client.ReadReply().body, "in time");
  const Responder patient = Take();  // in the memory of the first
  server_.Advance(milliseconds(500));
  EXPECT_TRUE(Silent(client));
  patient.Reply(TextOf("mine"));
  EXPECT_EQ(client.ReadReply().body, "mine");
}

TEST_F(ResponseTimeoutTest, ALaterReplyIsDroppedAndTheNextRequestGetsItsOwn) {
  HttpClient client(server_.Port());
  ASSERT_TRUE(client.Send(Get("/late") + Get("/patient")));
  const Responder late = Take();
  server_.Advance(milliseconds(500));
  EXPECT_EQ(client.ReadReply().status, 503);
  const Responder patient = Take();
  late.Reply(TextOf("too late"));
  server_.Advance(std::chrono::hours(1));  // the second route has no limit
  EXPECT_TRUE(Silent(client));
  patient.Reply(TextOf("mine"));
  EXPECT_EQ(client.ReadReply().body, "mine");
}

TEST_F(ResponseTimeoutTest, TheLastCopyMayGoAfterwards) {
  const test::CapturedStderr errors;
  HttpClient client(server_.Port());
  ASSERT_TRUE(client.Send(Get("/late")));
  std::optional<Responder> late = Take();
  server_.Advance(milliseconds(500));
  EXPECT_EQ(client.ReadReply().status, 503);
  late.reset();
  EXPECT_EQ(client.Ask(Get("/now")).body, "now");
  EXPECT_EQ(errors.Text(), "");
}

TEST_F(ResponseTimeoutTest, AStreamThatHasBegunMayGoOn) {
  HttpClient client(server_.Port());
  ASSERT_TRUE(client.Send(Get("/late")));
  const ReplyStream stream = Take().Stream(TextOf("one, "));
  server_.Loop().RunRounds(2);
  server_.Advance(std::chrono::hours(1));
  EXPECT_EQ(stream.Write("two"), StreamState::kOpen);
  stream.End();
  const HttpReply reply = client.ReadReply();
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, "one, two");
  EXPECT_TRUE(reply.complete);
}

TEST_F(ResponseTimeoutTest, AStreamThatBeginsTooLateIsGone) {
  HttpClient client(server_.Port());
  ASSERT_TRUE(client.Send(Get("/late")));
  const Responder late = Take();
  server_.Advance(milliseconds(500));
  const ReplyStream stream = late.Stream(TextOf("one, "));
  server_.Loop().RunRounds(2);
  EXPECT_EQ(stream.Write("two"), StreamState::kGone);
  EXPECT_EQ(client.ReadReply().status, 503);
  EXPECT_EQ(client.Ask(Get("/now")).body, "now");
}

TEST_F(ResponseTimeoutTest, TheTimeBeginsWhenTheHandlerIsCalled) {
  HttpClient client(server_.Port());
  ASSERT_TRUE(client.Send("POST /late HTTP/1.1\r\nHost: t\r\nContent-Length: 2\r\n\r\na"));
  server_.Advance(std::chrono::seconds(5));
  ASSERT_TRUE(client.Send("b"));
  const Responder responder = Take();
  server_.Advance(milliseconds(499));
  EXPECT_TRUE(Silent(client));
  server_.Advance(milliseconds(1));
  EXPECT_EQ(client.ReadReply().status, 503);
}

TEST_F(ResponseTimeoutTest, AHandlerThatTakesPiecesIsCalledWithTheHead) {
  HttpClient client(server_.Port());
  ASSERT_TRUE(client.Send("POST /pieces HTTP/1.1\r\nHost: t\r\nContent-Length: 4\r\n\r\nab"));
  const Responder responder = Take();
  ASSERT_TRUE(server_.Loop().Await([&] { return pieces_ == "ab"; }));
  server_.Advance(milliseconds(500));
  EXPECT_EQ(client.ReadReply().status, 503);
  ASSERT_TRUE(client.Send("cd" + Get("/now"))) << "the rest of the body is dropped";
  EXPECT_EQ(client.ReadReply().body, "now");
  EXPECT_EQ(server_.Loop().Ask([&] { return pieces_; }), "ab");
}

TEST_F(ResponseTimeoutTest, AHandlerThatAnswersAtOnceIsNotMeasured) {
  EXPECT_EQ(HttpClient(server_.Port()).Ask(Get("/now")).body, "now");
}

TEST_F(ResponseTimeoutTest, ForEverIsLongButValid) {
  HttpClient client(server_.Port());
  ASSERT_TRUE(client.Send(Get("/for-ever")));
  const Responder responder = Take();
  server_.Advance(std::chrono::hours(24 * 365));
  EXPECT_TRUE(Silent(client));
  responder.Reply(TextOf("at last"));
  EXPECT_EQ(client.ReadReply().body, "at last");
}

TEST_F(ResponseTimeoutTest, AHeadGetsNoBody) {
  HttpClient client(server_.Port());
  ASSERT_TRUE(client.Send("HEAD /late HTTP/1.1\r\nHost: t\r\n\r\n"));
  const Responder responder = Take();
  server_.Advance(milliseconds(500));
  EXPECT_EQ(client.ReadReply(test::Asked::kHead).status, 503);
  EXPECT_EQ(client.Ask(Get("/now")).body, "now");
}

TEST_F(ResponseTimeoutTest, AClientThatHasGoneIsNotAnswered) {
  std::optional<HttpClient> client(server_.Port());
  ASSERT_TRUE(client->Send(Get("/late")));
  const Responder responder = Take();
  client->Reset();
  ASSERT_TRUE(server_.Loop().Await([&] { return server_.Loop().Get().ConnectionCount() == 0; }));
  server_.Advance(milliseconds(500));
  EXPECT_EQ(HttpClient(server_.Port()).Ask(Get("/now")).body, "now");
}

TEST_F(ResponseTimeoutTest, MiddlewareSeesTheError) {
  std::vector<std::string> seen;
  Middleware looks;
  looks.error = [&](const ServerRequest& request, ServerResponse& response,
                    const std::exception& error) {
    const auto* http = dynamic_cast<const HttpError*>(&error);
    seen.push_back(std::string(request.Path()) + ' ' +
                   std::to_string(http == nullptr ? 0 : http->Status()) + ' ' + error.what());
    response.Set("Retry-After", "7");
  };
  looks.after = [&](const ServerRequest&, ServerResponse& response) {
    seen.push_back("after " + std::to_string(response.Status()));
  };
  server_.Loop().Ask([&] { routes_.Use(looks); });
  ClockedServer server([&](Looper&, LoopHttp& http) {
    http.SetRoutes(std::make_unique<RouteHandler>(routes_, errors_, MethodSet()));
  });
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(Get("/late")));
  ASSERT_TRUE(server.Loop().Await([&] { return late_.size() == 1; }));
  server.Advance(milliseconds(500));
  EXPECT_EQ(client.ReadReply().Field("Retry-After"), "7");
  server.Loop().Ask([&] {
    EXPECT_EQ(seen,
              (std::vector<std::string>{"/late 503 The response took too long.", "after 503"}));
  });
}

TEST_F(ResponseTimeoutTest, MiddlewareThatThrowsIsALogged500) {
  const test::CapturedStderr errors;
  Middleware fails;
  fails.after = [](const ServerRequest&, ServerResponse&) { throw std::runtime_error("after"); };
  server_.Loop().Ask([&] { routes_.Use(fails); });
  ClockedServer server([&](Looper&, LoopHttp& http) {
    http.SetRoutes(std::make_unique<RouteHandler>(routes_, errors_, MethodSet()));
  });
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(Get("/late")));
  ASSERT_TRUE(server.Loop().Await([&] { return late_.size() == 1; }));
  server.Advance(milliseconds(500));
  EXPECT_EQ(client.ReadReply().status, 500);
  EXPECT_NE(errors.Text().find("middleware threw: after"), std::string::npos) << errors.Text();
}

TEST(ResponseTimeout, AServerThatIsCutOffLeavesNoTimer) {
  std::vector<Responder> late;
  Routes routes;
  ErrorFormats errors;
  routes.Add(
      Method::kGet, "/",
      [&](const ServerRequest&, Responder responder) { late.push_back(std::move(responder)); },
      Limited(milliseconds(500)));
  std::optional<HttpClient> client;
  {
    ClockedServer server([&](Looper&, LoopHttp& http) {
      http.SetRoutes(std::make_unique<RouteHandler>(routes, errors, MethodSet()));
    });
    client.emplace(server.Port());
    ASSERT_TRUE(client->Send(Get("/")));
    ASSERT_TRUE(server.Loop().Await([&] { return !late.empty(); }));
  }
  EXPECT_TRUE(client->IsClosedByServer());
  EXPECT_FALSE(late.front().Reply(ServerResponse()));
}

TEST(ResponseTimeout, AServerThatStopsWaitsForTheAnswerAndNotForTheLimit) {
  std::vector<Responder> late;
  std::optional<test::RunningServer> server;
  server.emplace([&](HttpServer& http) {
    http.Get(
        "/",
        [&](const ServerRequest&, Responder responder) { late.push_back(std::move(responder)); },
        Limited(std::chrono::hours(1)));
  });
  HttpClient client(server->Port());
  ASSERT_TRUE(client.Send(Get("/")));
  ASSERT_TRUE(server->Await([&] { return !late.empty(); }));
  server->Get().Stop();
  ASSERT_TRUE(server->Await([&] { return server->GetLooper().Stopping(); }));
  EXPECT_TRUE(late.front().Reply(TextOf("at last")));
  EXPECT_EQ(client.ReadReply().body, "at last");
  server->Join();
}

TEST(ResponseTimeout, AnotherPathThatRespondsHasItsOwnLimit) {
  std::vector<Exchange*> waiting;  // on the loop's thread
  ClockedServer server([&](Looper&, LoopHttp& http) {
    http.Mount("/first", test::Answering([](Exchange& exchange) {
                 exchange.OnLate(milliseconds(500), [] { ADD_FAILURE() << "it has replied"; });
                 exchange.ReplyFrom("/second");
               })(http.GetLooper()));
    http.Mount("/second", test::Answering([&](Exchange& exchange) {
                 exchange.OnLate(milliseconds(100), [] { ADD_FAILURE() << "replaced"; });
                 exchange.OnLate(std::chrono::seconds(2),
                                 [&exchange] { exchange.Reply(Response(504)); });
                 waiting.push_back(&exchange);
               })(http.GetLooper()));
  });
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(Get("/first")));
  ASSERT_TRUE(server.Loop().Await([&] { return !waiting.empty(); }));
  server.Advance(milliseconds(1999));
  EXPECT_FALSE(client.HasInput(milliseconds(0)));
  server.Advance(milliseconds(1));
  EXPECT_EQ(client.ReadReply().status, 504);
}

TEST(ResponseTimeout, WhatIsThrownBecomesALogged500) {
  const test::CapturedStderr errors;
  std::vector<Exchange*> waiting;
  ClockedServer server([&](Looper&, LoopHttp& http) {
    http.Mount("/", test::Answering([&](Exchange& exchange) {
                 exchange.OnLate(milliseconds(500), [] { throw std::runtime_error("no"); });
                 waiting.push_back(&exchange);
               })(http.GetLooper()));
  });
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(Get("/page")));
  ASSERT_TRUE(server.Loop().Await([&] { return !waiting.empty(); }));
  server.Advance(milliseconds(500));
  EXPECT_EQ(client.ReadReply().status, 500);
  EXPECT_NE(errors.Text().find("GET /page: "), std::string::npos) << errors.Text();
}

TEST(ResponseTimeout, LessThanAMillisecondIsRefused) {
  const auto refusal = [](const auto& add) -> std::string {
    try {
      add();
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  const AsyncHandler handler = [](const ServerRequest&, const Responder&) {};
  Routes routes;
  ErrorFormats errors;
  EXPECT_EQ(
      refusal([&] { routes.Add(Method::kGet, "/a/{id}", handler, Limited(milliseconds(0))); }),
      "route \"/a/{id}\": response_timeout 0 ms: less than a millisecond");
  EXPECT_EQ(
      refusal([&] {
        RouteGroup(routes, Routes::kServer, "/api").Get("/b", handler, Limited(milliseconds(-5)));
      }),
      "route \"/api/b\": response_timeout -5 ms: less than a millisecond");
  EXPECT_TRUE(routes.All().empty());
  EXPECT_EQ(
      refusal([&] { routes.Add(Method::kGet, "/a/{id}", handler, Limited(milliseconds(1))); }), "");
}

}  // namespace
}  // namespace TURTLE_SERVER
