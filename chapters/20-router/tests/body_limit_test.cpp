// A handler that sets its own limit for the body.
#include <gtest/gtest.h>

#include <string>

#include "support/http_client.h"
#include "support/running_server.h"

namespace TURTLE_SERVER {
namespace {

using test::HttpClient;
using test::RunningServer;

// Takes at most four bytes, and has its own page for a longer body.
void TakeFour(Exchange& exchange) {
  if (exchange.GetRequest().uri.Path() == "/too-large") {
    exchange.Reply(TextResponse(200, "four bytes, please"));
    return;
  }
  exchange.LimitBody(4);
  if (exchange.BodyTooLarge()) {
    exchange.ReplyFrom("/too-large");
  } else {
    exchange.Reply(TextResponse(200, exchange.BodyLimitText()));
  }
}

auto Post(std::string_view body) -> std::string {
  return std::string("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: ")
      .append(std::to_string(body.size()))
      .append("\r\n\r\n")
      .append(body);
}

TEST(BodyLimit, APageOfTheHandlersOwnForABodyThatIsTooLarge) {
  RunningServer server(TakeFour);
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Post("1234")).body, "The body has more than 4 bytes.");
  EXPECT_EQ(client.Ask(Post("")).body, "The request has no body.");
  EXPECT_EQ(client.Ask(Post("12345")).body, "four bytes, please");
}

}  // namespace
}  // namespace TURTLE_SERVER
