// A request that is in the kernel when the stop begins was sent to a server that took requests.
#include <gtest/gtest.h>

#include <string>

#include "support/http_client.h"
#include "support/running_server.h"

namespace TURTLE_SERVER {
namespace {

using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::RunningServer;

void ReplyWithPath(Exchange& exchange) {
  exchange.Reply(TextResponse(200, exchange.GetRequest().uri.Path()));
}

// Sends while the loop stands still, then makes the server stop before its loop can look.
void SendAndStop(RunningServer& server, HttpClient& client, const std::string& bytes) {
  server.Ask([&] {
    EXPECT_TRUE(client.Send(bytes));
    server.GetLooper().ForEachConnection([&](Connection* connection) {
      EXPECT_TRUE(test::AwaitBytes(connection->GetFd(), bytes.size()));
    });
    server.Get().Stop();
  });
}

TEST(HttpSessionLastRequest, OnAnIdleConnectionIsAnswered) {
  RunningServer server(ReplyWithPath);
  HttpClient client(server.Port());
  ASSERT_EQ(client.Ask(Get("/first")).status, 200);
  SendAndStop(server, client, Get("/last"));
  const HttpReply reply = client.ReadReply();
  EXPECT_EQ(reply.body, "/last");
  EXPECT_EQ(reply.Field("Connection"), "close");
  EXPECT_TRUE(client.IsClosedByServer());
  server.Join();
}

TEST(HttpSessionLastRequest, OneThatIsCutIsAnsweredWhenItIsWhole) {
  RunningServer server(ReplyWithPath);
  HttpClient client(server.Port());
  ASSERT_EQ(client.Ask(Get("/first")).status, 200);
  SendAndStop(server, client, "GET /la");
  ASSERT_TRUE(server.Await([&] { return server.GetLooper().Stopping(); }));
  ASSERT_TRUE(client.Send("st HTTP/1.1\r\nHost: t\r\n\r\n"));
  const HttpReply reply = client.ReadReply();
  EXPECT_EQ(reply.body, "/last");
  EXPECT_EQ(reply.Field("Connection"), "close");
  EXPECT_TRUE(client.IsClosedByServer());
  server.Join();
}

}  // namespace
}  // namespace TURTLE_SERVER
