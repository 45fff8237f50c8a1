// Clients that are slow, greedy, broken or gone.
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <string>

#include "support/http_client.h"
#include "support/running_server.h"
#include "web/http_session.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::milliseconds;
using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::kPatience;
using test::RunningServer;
using test::Waiting;

void ReplyWithPath(Exchange& exchange) {
  exchange.Reply(TextResponse(200, exchange.GetRequest().uri.Path()));
}

// More than two sockets hold.
auto LargeText() -> const std::string& {
  static const std::string text(std::size_t{24} * 1024 * 1024, 'x');
  return text;
}

TEST(HttpSessionLimits, AnErrorArrivesThoughTheClientIsStillSending) {
  RunningServer server(ReplyWithPath);
  const std::string flood(std::size_t{512} * 1024, 'x');
  for (const std::string& bad : {std::string("GET / HTTP/1.1\r\n\r\n"),  // no Host
                                 std::string("GET / HTTP/3.0\r\n\r\n"),
                                 "GET /" + std::string(9000, 'a') + " HTTP/1.1\r\nHost: t\r\n\r\n",
                                 Get("/", "X: " + std::string(40'000, 'a') + "\r\n")}) {
    HttpClient client(server.Port());
    ASSERT_TRUE(client.Send(bad + flood));
    const HttpReply reply = client.ReadReply();
    EXPECT_GE(reply.status, 400);
    EXPECT_TRUE(reply.complete);
    EXPECT_EQ(reply.Field("Connection"), "close");
    EXPECT_TRUE(client.Send(flood));  // a reset would have come for the first part
    EXPECT_TRUE(client.IsClosedByServer());
    EXPECT_FALSE(client.WasReset());
  }
}

TEST(HttpSessionLimits, WhatWasAskedBeforeAnErrorIsAnsweredBeforeIt) {
  RunningServer server(ReplyWithPath);
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(Get("/1") + Get("/2") + "nonsense\r\n\r\n" + Get("/3")));
  EXPECT_EQ(client.ReadReply().body, "/1");
  EXPECT_EQ(client.ReadReply().body, "/2");
  EXPECT_EQ(client.ReadReply().status, 400);
  EXPECT_TRUE(client.IsClosedByServer());
}

// A client that is too eager sends its bytes for the tunnel without waiting for permission.
TEST(HttpSessionLimits, NothingBehindARefusedTunnelIsARequest) {
  RunningServer server([](Exchange& exchange) { exchange.Reply(TextResponse(200, "answered")); });
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send("CONNECT t:80 HTTP/1.1\r\nHost: t:80\r\n\r\n" + Get("/")));
  const HttpReply reply = client.ReadReply();
  EXPECT_EQ(reply.status, 501);
  EXPECT_EQ(reply.Field("Connection"), "close");
  EXPECT_TRUE(client.IsClosedByServer());
}

TEST(HttpSessionLimits, TheLongestHeadThatThereCanBeIsAnswered) {
  HttpOptions options;
  options.parser.max_head_bytes = Connection::kInputLimit;
  RunningServer server(ReplyWithPath, options);
  const std::size_t others = Get("/", "X: \r\n").size();
  for (const std::size_t more : {0U, 1U}) {
    HttpClient client(server.Port());
    const std::string value(Connection::kInputLimit - others + more, 'a');
    ASSERT_TRUE(client.Send(Get("/", "X: " + value + "\r\n")));
    EXPECT_EQ(client.ReadReply().status, more == 0 ? 200 : 431);
  }
}

TEST(HttpSessionLimits, AHeadThatNeverEndsIs408) {
  HttpOptions options;
  options.head_timeout = milliseconds(60);
  RunningServer server(ReplyWithPath, options);
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Get("/first")).status, 200);
  ASSERT_TRUE(client.Send("GET / HTTP/1.1\r\nX: "));
  // A byte now and then must not move the deadline.
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!client.HasInput(milliseconds(5)) && std::chrono::steady_clock::now() < deadline) {
    ASSERT_TRUE(client.Send("x"));
  }
  const HttpReply reply = client.ReadReply();
  EXPECT_EQ(reply.status, 408);
  EXPECT_EQ(reply.Field("Connection"), "close");
  EXPECT_TRUE(client.IsClosedByServer());
}

TEST(HttpSessionLimits, AnIdleConnectionIsClosedWithoutAWord) {
  HttpOptions options;
  options.idle_timeout = milliseconds(50);
  RunningServer server(ReplyWithPath, options);
  HttpClient silent(server.Port());
  HttpClient used(server.Port());
  EXPECT_EQ(used.Ask(Get("/")).status, 200);
  EXPECT_TRUE(used.IsClosedByServer());
  EXPECT_TRUE(silent.IsClosedByServer());
}

TEST(HttpSessionLimits, AHandlerMayTakeLongerThanAnIdleClient) {
  HttpOptions options;
  options.idle_timeout = milliseconds(500);  // enough for a request to come
  Waiting waiting;
  RunningServer server([&](Exchange& exchange) { waiting.Keep(exchange); }, options);
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(Get("/")));
  ASSERT_TRUE(server.Await([&] { return waiting.Count() == 1; }));
  std::promise<void> waited;
  server.Ask([&] { server.GetLooper().RunAfter(milliseconds(1000), [&] { waited.set_value(); }); });
  ASSERT_EQ(waited.get_future().wait_for(kPatience), std::future_status::ready);
  server.Ask([&] {
    ASSERT_EQ(waiting.Count(), 1U);
    waiting.Last()->Reply(TextResponse(200, "at last"));
  });
  EXPECT_EQ(client.ReadReply().body, "at last");
}

TEST(HttpSessionLimits, AClientThatDoesNotReadIsLetGo) {
  HttpOptions options;
  options.write_timeout = milliseconds(50);
  RunningServer server([](Exchange& exchange) { exchange.Reply(TextResponse(200, LargeText())); },
                       options);
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(Get("/")));
  // It is deleted; the loop then still tries for a while to send the rest.
  const auto gone = [&] {
    std::size_t connections = 0;
    server.GetLooper().ForEachConnection([&](Connection*) { ++connections; });
    return connections == 0;
  };
  ASSERT_TRUE(client.HasInput(kPatience));  // it has been a connection
  EXPECT_TRUE(server.Await(gone));
}

TEST(HttpSessionLimits, RequestsOfAClientThatDoesNotReadWait) {
  constexpr int kRequests = 48;
  int handled = 0;  // the loop's
  const std::string text(std::size_t{1024} * 1024, 'x');
  RunningServer server([&](Exchange& exchange) {
    ++handled;
    exchange.Reply(TextResponse(200, text));
  });
  HttpClient client(server.Port());
  std::string requests;
  for (int i = 0; i < kRequests; ++i) {
    requests += Get("/");
  }
  ASSERT_TRUE(client.Send(requests));
  ASSERT_TRUE(server.Await([&] {
    bool paused = false;
    server.GetLooper().ForEachConnection([&](Connection* one) { paused = one->Paused(); });
    return paused;
  }));
  EXPECT_LT(server.Ask([&] { return handled; }), kRequests);
  for (int i = 0; i < kRequests; ++i) {
    const HttpReply reply = client.ReadReply();
    ASSERT_TRUE(reply.complete && reply.body == text) << "reply " << i;
  }
  EXPECT_EQ(server.Ask([&] { return handled; }), kRequests);
}

TEST(HttpSessionLimits, AClientThatHasFinishedSendingGetsItsReplies) {
  Waiting waiting;
  RunningServer server([&](Exchange& exchange) {
    exchange.GetRequest().uri.Path() == "/late" ? waiting.Keep(exchange) : ReplyWithPath(exchange);
  });
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(Get("/now") + Get("/late")));
  client.FinishSending();
  EXPECT_EQ(client.ReadReply().body, "/now");
  ASSERT_TRUE(server.Await([&] { return waiting.Count() == 1; }));
  server.Settle();
  server.Ask([&] { ReplyWithPath(*waiting.Last()); });
  EXPECT_EQ(client.ReadReply().body, "/late");
  EXPECT_TRUE(client.IsClosedByServer());
}

TEST(HttpSessionLimits, ABrokenConnectionEndsItsExchange) {
  Waiting waiting;
  RunningServer server([&](Exchange& exchange) { waiting.Keep(exchange); });
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(Get("/")));
  ASSERT_TRUE(server.Await([&] { return waiting.Count() == 1; }));
  client.Reset();
  EXPECT_TRUE(server.Await([&] { return waiting.Ended() == 1; }));
  EXPECT_TRUE(server.Await([&] { return server.GetLooper().ConnectionCount() == 0; }));
}

}  // namespace
}  // namespace TURTLE_SERVER
