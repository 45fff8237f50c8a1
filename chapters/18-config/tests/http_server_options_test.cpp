// Limits and timeouts that change while the server runs.
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <string>

#include "support/http_client.h"
#include "support/running_server.h"

namespace TURTLE_SERVER {
namespace {

using test::Get;
using test::HttpClient;
using test::RunningServer;

// Returns once each loop has them.
void SetOptions(HttpServer& server, const HttpOptions& options) {
  EXPECT_TRUE(server.Loopers().front()->Post([&] { server.SetOptions(options); }));
  for (Looper* looper : server.Loopers()) {  // the first as well: what it does, it did in order
    std::promise<void> done;
    ASSERT_TRUE(looper->Post([&done] { done.set_value(); }));
    done.get_future().wait();
  }
}

TEST(HttpServerOptions, CountForClientsThatAreThereAndForNewOnes) {
  HttpOptions options;
  options.body.max_body_bytes = 10;
  HttpServer* http = nullptr;
  RunningServer server(
      [&http](HttpServer& made) {
        http = &made;
        made.Mount("/", test::Answering(
                            [](Exchange& exchange) { exchange.Reply(TextResponse(200, "fine")); }));
      },
      options, 2);
  HttpClient before(server.Port());
  const std::string post = "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 11\r\n\r\n";
  EXPECT_EQ(HttpClient(server.Port()).Ask(post + "hello there").status, 413);
  EXPECT_EQ(before.Ask(Get("/")).status, 200);
  options.body.max_body_bytes = 11;
  SetOptions(*http, options);
  EXPECT_EQ(before.Ask(post + "hello there").status, 200);
  EXPECT_EQ(HttpClient(server.Port()).Ask(post + "hello there").status, 200);
  options.parser.max_fields = 1;
  SetOptions(*http, options);
  EXPECT_EQ(before.Ask(post + "hello there").status, 431) << "it has two";
}

TEST(HttpServerOptions, CountIfTheyWereSetBeforeTheServerBegan) {
  RunningServer server([](HttpServer& made) {
    made.Mount("/", test::Answering(
                        [](Exchange& exchange) { exchange.Reply(TextResponse(200, "fine")); }));
    HttpOptions options;
    options.parser.max_fields = 1;
    made.SetOptions(options);
  });
  EXPECT_EQ(HttpClient(server.Port()).Ask("GET / HTTP/1.1\r\nHost: t\r\nA: b\r\n\r\n").status, 431);
}

}  // namespace
}  // namespace TURTLE_SERVER
