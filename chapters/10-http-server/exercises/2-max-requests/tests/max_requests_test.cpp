// A connection ends after a number of requests, without losing a response.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "support/http_client.h"
#include "support/running_server.h"

namespace TURTLE_SERVER {
namespace {

using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::RunningServer;
using test::Waiting;

void ReplyWithPath(Exchange& exchange) {
  exchange.Reply(TextResponse(200, exchange.GetRequest().uri.Path()));
}

// Sets the option. This overload is for the solution, the next one for the chapter as it is given.
template <typename Options>
auto SetMaxRequests(Options& options, std::uint32_t requests, int)
    -> decltype(void(options.max_requests), true) {
  options.max_requests = requests;
  return true;
}

template <typename Options>
auto SetMaxRequests(Options&, std::uint32_t, std::int64_t) -> bool {
  return false;
}

auto AtMost(std::uint32_t requests) -> HttpOptions {
  HttpOptions options;
  EXPECT_TRUE(SetMaxRequests(options, requests, 0)) << "HttpOptions has no max_requests";
  return options;
}

TEST(MaxRequests, TheLastResponseSaysSo) {
  RunningServer server(ReplyWithPath, AtMost(2));
  HttpClient client(server.Port());
  const HttpReply first = client.Ask(Get("/1"));
  EXPECT_EQ(first.body, "/1");
  EXPECT_EQ(first.Field("Connection"), "");
  const HttpReply second = client.Ask(Get("/2"));
  EXPECT_EQ(second.body, "/2");
  EXPECT_EQ(second.Field("Connection"), "close");
  EXPECT_TRUE(client.IsClosedByServer());
}

TEST(MaxRequests, EachConnectionCountsItsOwn) {
  RunningServer server(ReplyWithPath, AtMost(1));
  for (int i = 0; i < 3; ++i) {
    HttpClient client(server.Port());
    EXPECT_EQ(client.Ask(Get("/")).Field("Connection"), "close");
    EXPECT_TRUE(client.IsClosedByServer());
  }
}

TEST(MaxRequests, ZeroIsNoLimit) {
  RunningServer server(ReplyWithPath, AtMost(0));
  HttpClient client(server.Port());
  for (int i = 0; i < 200; ++i) {
    ASSERT_EQ(client.Ask(Get("/")).Field("Connection"), "");
  }
}

TEST(MaxRequests, AnOlderClientIsToldToo) {
  RunningServer server(ReplyWithPath, AtMost(2));
  HttpClient client(server.Port());
  const std::string request = "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n";
  EXPECT_EQ(client.Ask(request).Field("Connection"), "keep-alive");
  EXPECT_EQ(client.Ask(request).Field("Connection"), "close");
  EXPECT_TRUE(client.IsClosedByServer());
}

TEST(MaxRequests, RequestsAfterTheLastReachNoHandlerAndDestroyNoResponse) {
  int handled = 0;  // the loop's
  RunningServer server(
      [&](Exchange& exchange) {
        ++handled;
        ReplyWithPath(exchange);
      },
      AtMost(3));
  HttpClient client(server.Port());
  std::string requests;
  for (int i = 1; i <= 2000; ++i) {  // more than one read takes
    requests += Get("/" + std::to_string(i), "X: " + std::string(100, 'x') + "\r\n");
  }
  ASSERT_TRUE(client.Send(requests));
  for (int i = 1; i <= 3; ++i) {
    EXPECT_EQ(client.ReadReply().body, "/" + std::to_string(i));
  }
  EXPECT_TRUE(client.IsClosedByServer());
  EXPECT_FALSE(client.WasReset());
  EXPECT_EQ(server.Ask([&] { return handled; }), 3);
}

TEST(MaxRequests, ALateResponseCounts) {
  Waiting waiting;
  RunningServer server([&](Exchange& exchange) { waiting.Keep(exchange); }, AtMost(1));
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(Get("/late") + Get("/never")));
  ASSERT_TRUE(server.Await([&] { return waiting.Count() == 1; }));
  server.Ask([&] { ReplyWithPath(*waiting.Last()); });
  const HttpReply reply = client.ReadReply();
  EXPECT_EQ(reply.body, "/late");
  EXPECT_EQ(reply.Field("Connection"), "close");
  EXPECT_TRUE(client.IsClosedByServer());
  EXPECT_EQ(server.Ask([&] { return waiting.Ended(); }), 1U);
}

TEST(MaxRequests, AServerThatStopsMayEndItEarlierButNotLater) {
  Waiting waiting;
  RunningServer server([&](Exchange& exchange) { waiting.Keep(exchange); }, AtMost(1));
  {
    HttpClient client(server.Port());
    ASSERT_TRUE(client.Send(Get("/1") + Get("/2")));
    ASSERT_TRUE(server.Await([&] { return waiting.Count() == 1; }));
    server.Get().Stop();
    ASSERT_TRUE(server.Await([&] { return server.GetLooper().Stopping(); }));
    server.Ask([&] { ReplyWithPath(*waiting.Last()); });
    EXPECT_EQ(client.ReadReply().Field("Connection"), "close");
    EXPECT_TRUE(client.IsClosedByServer());
  }
  server.Join();
  EXPECT_EQ(waiting.Ended(), 1U);
}

}  // namespace
}  // namespace TURTLE_SERVER
