// A web server behind trusted proxies, as a program that uses the library sees it.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/cidr_set.h"
#include "support/http_client.h"
#include "support/running_server.h"
#include "task/task_pool.h"
#include "web/offload.h"

namespace TURTLE_SERVER {
namespace {

using test::Get;
using test::HttpClient;
using test::RunningServer;

auto Trusting(const std::vector<std::string>& networks) -> HttpOptions {
  HttpOptions options;
  options.trusted_proxies = std::make_shared<const CidrSet>(networks);
  return options;
}

// Replies "192.0.2.7 https alice".
void Tell(Exchange& exchange) {
  const std::string scheme = exchange.IsSecure() ? " https" : " http";
  const std::string user = exchange.User().empty() ? "" : " " + std::string(exchange.User());
  exchange.Reply(TextResponse(200, exchange.GetClient().Ip() + scheme + user));
}

auto Ask(const RunningServer& server, std::string_view fields) -> std::string {
  return HttpClient(server.Port()).Ask(Get("/", fields)).body;
}

TEST(ClientAddressTest, OnlyTheFieldsOfATrustedProxyCount) {
  constexpr std::string_view kFields =
      "Forwarded: for=192.0.2.7;proto=https\r\nX-Forwarded-Proto: https\r\n";
  const RunningServer trusting(Tell, Trusting({"10.0.0.0/8", "127.0.0.1"}));
  EXPECT_EQ(Ask(trusting, kFields), "192.0.2.7 https");
  EXPECT_EQ(Ask(trusting, "X-Forwarded-For: 1.1.1.1, 192.0.2.7, 10.0.0.1\r\n"), "192.0.2.7 http");
  EXPECT_EQ(Ask(trusting, "Forwarded: for=\r\n"), "127.0.0.1 http");
  EXPECT_EQ(Ask(trusting, ""), "127.0.0.1 http");
  const RunningServer suspicious(Tell, Trusting({"10.0.0.0/8", "127.0.0.2"}));
  EXPECT_EQ(Ask(suspicious, kFields), "127.0.0.1 http");
  const RunningServer plain(Tell);
  EXPECT_EQ(Ask(plain, kFields), "127.0.0.1 http");
  EXPECT_EQ(Ask(plain, "X-Forwarded-For: 192.0.2.7\r\n"), "127.0.0.1 http");
}

TEST(ClientAddressTest, EachRequestOfAConnectionHasItsOwnClient) {
  const RunningServer server(Tell, Trusting({"127.0.0.1"}));
  HttpClient proxy(server.Port());
  EXPECT_EQ(proxy.Ask(Get("/", "X-Forwarded-For: 192.0.2.7\r\nX-Forwarded-Proto: https\r\n")).body,
            "192.0.2.7 https");
  EXPECT_EQ(proxy.Ask(Get("/", "X-Forwarded-For: 192.0.2.8\r\n")).body, "192.0.2.8 http");
  EXPECT_EQ(proxy.Ask(Get("/")).body, "127.0.0.1 http");
}

TEST(ClientAddressTest, TheOptionMayChange) {
  RunningServer server(Tell);
  HttpClient proxy(server.Port());
  const std::string request = Get("/", "X-Forwarded-For: 192.0.2.7\r\n");
  EXPECT_EQ(proxy.Ask(request).body, "127.0.0.1 http");
  server.Ask([&] { server.Get().SetOptions(Trusting({"127.0.0.1"})); });
  server.Ask([] {});
  EXPECT_EQ(proxy.Ask(request).body, "192.0.2.7 http");
  server.Ask([&] { server.Get().SetOptions({}); });
  server.Ask([] {});
  EXPECT_EQ(proxy.Ask(request).body, "127.0.0.1 http");
}

TEST(ClientAddressTest, ARouteSeesTheClientOnAnyThread) {
  TaskPoolOptions threads;
  threads.threads = 1;
  TaskPool pool(threads);
  pool.Start();
  const auto tell = [](const ServerRequest& request, ServerResponse& response) {
    response.Text(request.Source().Ip());
  };
  const RunningServer server(
      [&](HttpServer& http) { http.Get("/", tell).Get("/slow", Offload(pool, {}, tell)); },
      Trusting({"127.0.0.1"}));
  for (const char* path : {"/", "/slow"}) {
    HttpClient proxy(server.Port());
    EXPECT_EQ(proxy.Ask(Get(path, "X-Forwarded-For: 192.0.2.7\r\n")).body, "192.0.2.7") << path;
    EXPECT_EQ(proxy.Ask(Get(path)).body, "127.0.0.1") << path;
  }
}

// A name belongs to one request: the next one of the connection, or the target of a program's
// redirect, has none.
TEST(ClientAddressTest, AUserIsThatOfOneRequest) {
  const RunningServer server([](Exchange& exchange) {
    const std::string_view path = exchange.GetRequest().uri.Path();
    if (path != "/") {
      exchange.SetUser("alice");
    }
    path == "/moved" ? exchange.ReplyFrom("/") : Tell(exchange);
  });
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Get("/alice")).body, "127.0.0.1 http alice");
  EXPECT_EQ(client.Ask(Get("/")).body, "127.0.0.1 http");
  EXPECT_EQ(client.Ask(Get("/moved")).body, "127.0.0.1 http");
}

}  // namespace
}  // namespace TURTLE_SERVER
