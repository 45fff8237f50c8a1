// A request that another path of the server answers: the rest of its body is dropped.
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

constexpr const char* kPost = "POST /first HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\n\r\n12345";

TEST(ReplyFrom, TheFirstHandlerGetsNoMoreOfTheBody) {
  int pieces = 0;
  RunningServer server([&](Exchange& exchange) {
    if (exchange.GetRequest().uri.Path() == "/first") {
      exchange.OnBody([&](std::string_view, bool) { ++pieces; });
      exchange.ReplyFrom("/second");
    } else {
      exchange.Reply(TextResponse(200, exchange.GetRequest().method_text));
    }
  });
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(kPost).body, "GET");
  EXPECT_EQ(server.Ask([&] { return pieces; }), 0);
  EXPECT_EQ(client.Ask(Get("/again")).body, "GET");  // the body was not taken for a request
}

TEST(ReplyFrom, TheSecondHandlerGetsAnEmptyBody) {
  RunningServer server([&](Exchange& exchange) {
    if (exchange.GetRequest().uri.Path() == "/first") {
      exchange.HoldBody(true);
      exchange.ReplyFrom("/second");
      return;
    }
    exchange.OnBody([&exchange](std::string_view piece, bool last) {
      exchange.Reply(TextResponse(200, std::string(piece) + (last ? "end" : "more")));
    });
  });
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(kPost).body, "end");
  EXPECT_EQ(client.Ask(Get("/second")).body, "end");
}

}  // namespace
}  // namespace TURTLE_SERVER
