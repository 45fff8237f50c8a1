// Groups of routes: their prefix, and the middleware around them.
#include "web/route_group.h"

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>

#include "http/http_error.h"
#include "support/http_client.h"
#include "support/running_server.h"

namespace TURTLE_SERVER {
namespace {

using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::RunningServer;

void Answer(const ServerRequest& req, ServerResponse& res) { res.Text(req.Path()); }

auto Bare(const std::string& method, const std::string& target, const std::string& fields = "")
    -> std::string {
  return method + " " + target + " HTTP/1.1\r\nHost: t\r\n" + fields + "\r\n";
}

// Each writes its name into the response on the way out, and records it on the way in.
auto Named(const std::string& name) -> Middleware {
  Middleware middleware;
  middleware.before = [name](const ServerRequest& req) -> std::optional<ServerResponse> {
    if (req.Query("stop") == name) {
      return ServerResponse().Text("stopped");
    }
    return std::nullopt;
  };
  middleware.after = [name](const ServerRequest&, ServerResponse& res) {
    res.Set("X-Way", std::string(res.Find("X-Way").value_or("")) + name);
  };
  middleware.error = [name](const ServerRequest&, ServerResponse& res, const std::exception&) {
    res.Set("X-Error", std::string(res.Find("X-Error").value_or("")) + name);
  };
  return middleware;
}

class RouteGroupTest : public testing::Test {
 protected:
  RouteGroupTest()
      : server_([](HttpServer& http) {
          http.Use(Named("s"));
          http.Get("/plain", Answer);
          RouteGroup api = http.Group("/api");
          api.Get("", Answer).Get("/todos", Answer).Post("/todos", Answer);
          api.Get("/users/{id:int}", [](const ServerRequest& req, ServerResponse& res) {
            res.Text(req.Parameter("id"));
          });
          api.Get("/bad", [](const ServerRequest&, ServerResponse&) { throw HttpError(418); });
          api.Get("/later", [](const ServerRequest&, const Responder& responder) {
            responder.Reply(ServerResponse().Text("late"));
          });
          RouteGroup admin = api.Group("/admin/{who}");
          admin.Use(Named("a"));
          admin.Delete("/todos", [](const ServerRequest& req, ServerResponse& res) {
            res.Text(req.Parameter("who"));
          });
          api.Use(Named("g")).Use(Named("h"));  // after the routes
          http.Group("").Use(Named("n")).Get("/nameless", Answer);
          http.Put("/api/todos", Answer);  // of no group
          http.Mount("/", test::Answering([](Exchange& exchange) {
                       exchange.Reply(TextResponse(200, "mounted"));
                     }));
        }) {}

  auto Ask(const std::string& request) -> HttpReply {
    return HttpClient(server_.Port()).Ask(request);
  }

  auto Way(const std::string& request) -> std::string { return Ask(request).Field("X-Way"); }

 private:
  RunningServer server_;
};

TEST_F(RouteGroupTest, ThePrefixComesBeforeThePattern) {
  EXPECT_EQ(Ask(Get("/api/todos")).body, "/api/todos");
  EXPECT_EQ(Ask(Get("/api")).body, "/api");
  EXPECT_EQ(Ask(Get("/todos")).body, "mounted");
  EXPECT_EQ(Ask(Get("/api/users/7")).body, "7");
  EXPECT_EQ(Ask(Bare("DELETE", "/api/admin/ada/todos")).body, "ada");
  EXPECT_EQ(Ask(Get("/nameless")).body, "/nameless");
}

TEST_F(RouteGroupTest, ItsMiddlewareIsAroundItsRoutesAlone) {
  EXPECT_EQ(Way(Get("/plain")), "s");
  EXPECT_EQ(Way(Get("/api/todos")), "hgs");
  EXPECT_EQ(Way(Get("/api/later")), "hgs");
  EXPECT_EQ(Way(Bare("DELETE", "/api/admin/ada/todos")), "ahgs");
  EXPECT_EQ(Way(Get("/nameless")), "ns");
  EXPECT_EQ(Way(Bare("PUT", "/api/todos")), "s");
  EXPECT_EQ(Way(Get("/api/none")), "");
  EXPECT_EQ(Way(Bare("OPTIONS", "*")), "s");
}

TEST_F(RouteGroupTest, WhoeverWasEnteredIsLeft) {
  EXPECT_EQ(Way(Get("/api/todos?stop=s")), "s");
  EXPECT_EQ(Way(Get("/api/todos?stop=g")), "gs");
  EXPECT_EQ(Way(Get("/api/todos?stop=h")), "hgs");
  EXPECT_EQ(Ask(Get("/api/todos?stop=h")).body, "stopped");
  EXPECT_EQ(Ask(Get("/plain?stop=g")).body, "/plain");
}

TEST_F(RouteGroupTest, ErrorsAreToldToTheGroup) {
  const HttpReply reply = Ask(Get("/api/bad"));
  EXPECT_EQ(reply.status, 418);
  EXPECT_EQ(reply.Field("X-Error"), "sgh");
  EXPECT_EQ(reply.Field("X-Way"), "hgs");
  const HttpReply malformed =
      Ask(Bare("POST", "/api/todos", "Transfer-Encoding: chunked\r\n") + "z\r\n");
  EXPECT_EQ(malformed.status, 400);
  EXPECT_EQ(malformed.Field("X-Way"), "hgs");
}

TEST_F(RouteGroupTest, AMissingMethodBelongsToTheGroupOfThePath) {
  const HttpReply reply = Ask(Bare("DELETE", "/api/todos"));
  EXPECT_EQ(reply.status, 405);
  EXPECT_EQ(reply.Field("Allow"), "GET, HEAD, POST, PUT, OPTIONS");
  EXPECT_EQ(reply.Field("X-Way"), "hgs");
  EXPECT_EQ(Way(Bare("OPTIONS", "/api/users/7")), "hgs");
  EXPECT_EQ(Way(Bare("POST", "/plain")), "s");
}

TEST(RouteGroupPrefixTest, WhatIsNoPrefixIsRefused) {
  HttpServer server(NetAddress("127.0.0.1", 0));
  EXPECT_THROW(static_cast<void>(server.Group("api")), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(server.Group("/api/")), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(server.Group("/")), std::invalid_argument);
  RouteGroup api = server.Group("/api");
  EXPECT_THROW(static_cast<void>(api.Group("v1")), std::invalid_argument);
  EXPECT_THROW(api.Get("todos", Answer), std::invalid_argument);
  EXPECT_THROW(api.Get("~/archive/.*", Answer), std::invalid_argument);
  EXPECT_NO_THROW(server.Group("").Get("~/archive/.*", Answer));
}

}  // namespace
}  // namespace TURTLE_SERVER
