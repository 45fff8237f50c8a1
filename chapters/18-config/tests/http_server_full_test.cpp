// Above the limit of clients, a web client gets a 503 that says so.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/http_client.h"
#include "support/running_server.h"

namespace TURTLE_SERVER {
namespace {

using test::Get;
using test::HttpClient;
using test::RunningServer;

TEST(HttpServerFull, WhoIsAboveTheLimitGets503AndNobodyElseNotices) {
  RunningServer server([](Exchange& exchange) { exchange.Reply(TextResponse(200, "fine")); });
  server.Get().SetMaxConnections(1);
  HttpClient served(server.Port());
  EXPECT_EQ(served.Ask(Get("/")).body, "fine");
  {
    HttpClient above(server.Port());
    const test::HttpReply reply = above.Ask(Get("/"));
    EXPECT_EQ(reply.status, 503);
    EXPECT_EQ(reply.Field("Connection"), "close");
    EXPECT_EQ(reply.Field("Retry-After"), "1");
    EXPECT_NE(reply.Field("Date"), "");
    EXPECT_TRUE(reply.complete);
    EXPECT_TRUE(above.IsClosedByServer()) << "without a reset, though there was a request";
  }
  EXPECT_EQ(served.Ask(Get("/")).body, "fine");
  served.FinishSending();
  EXPECT_TRUE(served.IsClosedByServer());
  HttpClient next(server.Port());
  EXPECT_EQ(next.Ask(Get("/")).body, "fine");
}

TEST(HttpServerFull, ALimitIsEachLoopsOwn) {
  RunningServer server(
      [](HttpServer& made) {
        made.SetMaxConnections(2);
        made.Mount("/", test::Answering(
                            [](Exchange& exchange) { exchange.Reply(TextResponse(200, "fine")); }));
      },
      {}, 2);
  std::vector<HttpClient> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back(server.Port());
    EXPECT_EQ(clients.back().Ask(Get("/")).status, 200);
  }
  EXPECT_EQ(HttpClient(server.Port()).Ask(Get("/")).status, 503);
}

}  // namespace
}  // namespace TURTLE_SERVER
