// A server that is asked to stop finishes the requests that it has begun, and nothing else.
#include <gtest/gtest.h>

#include <future>
#include <string>

#include "support/http_client.h"
#include "support/running_server.h"
#include "web/http_session.h"

namespace TURTLE_SERVER {
namespace {

using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::kPatience;
using test::RunningServer;
using test::Waiting;

void ReplyWithPath(Exchange& exchange) {
  exchange.Reply(TextResponse(200, exchange.GetRequest().uri.Path()));
}

TEST(HttpSessionStop, TheReplyUnderWayIsFinishedAndIsTheLast) {
  Waiting waiting;
  RunningServer server([&](Exchange& exchange) { waiting.Keep(exchange); });
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(Get("/late")));
  ASSERT_TRUE(server.Await([&] { return waiting.Count() == 1; }));
  server.Get().Stop();
  ASSERT_TRUE(server.Await([&] { return server.GetLooper().Stopping(); }));
  server.Ask([&] { ReplyWithPath(*waiting.Last()); });
  const HttpReply reply = client.ReadReply();
  EXPECT_EQ(reply.body, "/late");
  EXPECT_EQ(reply.Field("Connection"), "close");
  EXPECT_EQ(client.ReadRest(), "");
  server.Join();
}

// They used to be dropped: the response before them announced the close.
TEST(HttpSessionStop, RequestsThatWereReadBeforeItAreAnswered) {
  Waiting waiting;
  RunningServer server([&](Exchange& exchange) {
    exchange.GetRequest().uri.Path() == "/late" ? waiting.Keep(exchange) : ReplyWithPath(exchange);
  });
  HttpClient client(server.Port());
  const std::string last = Get("/last");
  ASSERT_TRUE(client.Send(Get("/late") + Get("/next") + last.substr(0, 1)));
  ASSERT_TRUE(server.Await([&] { return waiting.Count() == 1; }));
  server.Get().Stop();
  ASSERT_TRUE(server.Await([&] { return server.GetLooper().Stopping(); }));
  server.Ask([&] { ReplyWithPath(*waiting.Last()); });
  for (const char* path : {"/late", "/next"}) {
    const HttpReply reply = client.ReadReply();
    EXPECT_EQ(reply.body, path);
    EXPECT_EQ(reply.Field("Connection"), "");
  }
  const HttpReply reply = client.Ask(last.substr(1));
  EXPECT_EQ(reply.body, "/last");
  EXPECT_EQ(reply.Field("Connection"), "close");
  EXPECT_TRUE(client.IsClosedByServer());
  server.Join();
}

TEST(HttpSessionStop, IdleConnectionsAreClosedAtOnce) {
  RunningServer server(ReplyWithPath);
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Get("/")).status, 200);
  server.Get().Stop();
  EXPECT_TRUE(client.IsClosedByServer());
  server.Join();
}

TEST(HttpSessionStop, ALargeReplyIsSentToItsEnd) {
  const std::string text(std::size_t{24} * 1024 * 1024, 'x');
  RunningServer server([&](Exchange& exchange) { exchange.Reply(TextResponse(200, text)); });
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(Get("/")));
  ASSERT_TRUE(client.HasInput(kPatience));
  server.Get().Stop();
  const HttpReply reply = client.ReadReply();
  EXPECT_TRUE(reply.complete && reply.body == text);
  EXPECT_TRUE(client.IsClosedByServer());
  server.Join();
}

// A client that has been accepted and handed over, but not served yet, was promised a response.
TEST(HttpSessionStop, AFreshConnectionIsAnswered) {
  std::promise<void> stands;
  std::promise<void> go_on;
  RunningServer server([](HttpServer& http) { http.Mount("/", test::Answering(ReplyWithPath)); },
                       HttpOptions(), 2);
  ASSERT_TRUE(server.Get().Loopers()[1]->Post([&] {
    stands.set_value();
    go_on.get_future().wait_for(kPatience);
  }));
  stands.get_future().wait();
  // One client for each loop; only the first loop runs.
  HttpClient one(server.Port());
  HttpClient two(server.Port());
  ASSERT_TRUE(one.Send(Get("/")));
  ASSERT_TRUE(two.Send(Get("/")));
  ASSERT_TRUE(one.HasInput(kPatience));
  EXPECT_EQ(one.ReadReply().Field("Connection"), "");
  // The second one must have been handed over.
  server.Settle();
  server.Get().Stop();
  EXPECT_TRUE(one.IsClosedByServer());  // the first loop has told the other to stop
  go_on.set_value();
  const HttpReply reply = two.ReadReply();
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.Field("Connection"), "close");
  EXPECT_TRUE(two.IsClosedByServer());
  server.Join();
}

}  // namespace
}  // namespace TURTLE_SERVER
