// Middleware around mounted handlers.
#include "web/group_handler.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "files/static_files.h"
#include "http/http_error.h"
#include "response_cache/response_cache.h"
#include "support/captured_stderr.h"
#include "support/http_client.h"
#include "support/running_server.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER {
namespace {

using test::Asked;
using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::RunningServer;

auto Bare(const std::string& method, const std::string& target, const std::string& fields = "")
    -> std::string {
  return method + " " + target + " HTTP/1.1\r\nHost: t\r\n" + fields + "\r\n";
}

// Each writes its name into the response on the way out.
auto Named(const std::string& name) -> Middleware {
  Middleware middleware;
  middleware.before = [name](const ServerRequest& req) -> std::optional<ServerResponse> {
    if (req.Query("stop") == name) {
      return ServerResponse().Text("stopped");
    }
    if (req.Query("throw") == name) {
      throw HttpError(403, name);
    }
    return std::nullopt;
  };
  middleware.after = [name](const ServerRequest& req, ServerResponse& res) {
    res.Set("X-Way", std::string(res.Find("X-Way").value_or("")) + name);
    if (req.Query("seen") == name) {
      res.Set("X-Seen", std::to_string(res.Status()) + " (" + std::string(res.Body()) + ")");
    }
    if (req.Query("replace") == name) {
      res.Status(203).Text("replaced");
    }
    if (req.Query("fail") == name) {
      throw HttpError(409, "failed");
    }
  };
  middleware.error = [name](const ServerRequest&, ServerResponse& res, const std::exception& e) {
    res.Set("X-Error", name + e.what());
  };
  return middleware;
}

// Responds in the way that the last segment of the path names.
void Respond(Exchange& exchange) {
  const std::string_view way = exchange.SubPath();
  if (way == "/whole") {
    exchange.Reply(TextResponse(200, "whole"));
  } else if (way == "/pieces") {
    exchange.BeginReply(Response(200).Set("X-Own", "yes"));
    exchange.Write("pie");
    exchange.Write("ces");
    exchange.End();
  } else if (way == "/length") {
    exchange.BeginReply(Response(200), 6);
    exchange.Write("length");
    exchange.End();
  } else if (way == "/ready") {
    ReadyReply ready;
    ready.text = "X-Own: yes\r\nContent-Length: 5\r\n\r\nready";
    ready.body_bytes = 5;
    exchange.Reply(ready);
  } else if (way == "/throw") {
    throw HttpError(418, "thrown");
  } else if (way == "/broken") {
    throw std::runtime_error("broken");
  } else if (way == "/cut") {
    exchange.BeginReply(Response(200));
    exchange.Write("half");
    throw std::runtime_error("in the middle");
  } else if (way == "/elsewhere") {
    exchange.ReplyFrom("/free");
  } else if (way == "/body") {
    exchange.OnBody([&exchange](std::string_view, bool last) {
      if (last) {
        exchange.Reply(TextResponse(200, "body"));
      }
    });
  } else if (way == "/twice") {
    exchange.Reply(TextResponse(200, "once"));
    exchange.Reply(TextResponse(200, "twice"));
  } else {
    exchange.Abort(404, "no such way");
  }
}

class GroupHandlerTest : public testing::Test {
 protected:
  GroupHandlerTest() {
    site_.Write("small.txt", "small");
    site_.Write("large.txt", std::string(300'000, 'x'));
  }

  auto Ask(const std::string& request) -> HttpReply {
    return HttpClient(server_.Port()).Ask(request);
  }

  // Expects a response that has passed both, with this body.
  void Expect(const std::string& path, const std::string& body) {
    for (int i = 0; i < 2; ++i) {  // the second time from a cache, if there is one
      const HttpReply reply = Ask(Get(path));
      EXPECT_EQ(reply.status, 200) << path;
      EXPECT_EQ(reply.Field("X-Way"), "gs") << path;
      EXPECT_TRUE(reply.body == body) << path << ": " << reply.body.substr(0, 100);
      EXPECT_TRUE(reply.complete) << path;
    }
  }

  test::SiteFolder site_;
  RunningServer server_{[this](HttpServer& http) {
    http.Use(Named("s"));
    http.ErrorFormat("/g/json", ProblemJson);
    RouteGroup group = http.Group("/g");
    group.Mount("", test::Answering(Respond));
    group.Mount("/json", test::Answering([](Exchange& exchange) { exchange.Abort(404, "none"); }));
    group.Get("/route", [](const ServerRequest&, ServerResponse& res) { res.Text("route"); });
    group.Use(Named("g"));  // after the mounts
    http.Group("/files").Use(Named("g")).Mount("", [this](Looper& looper) {
      StaticFilesOptions options;
      options.root = site_.Path();
      return std::make_unique<StaticFiles>(looper, options);
    });
    http.Group("").Mount("/server", test::Answering(Respond));
    http.Mount("/free", test::Answering(
                            [](Exchange& exchange) { exchange.Reply(TextResponse(200, "free")); }));
  }};
};

TEST_F(GroupHandlerTest, ResponsesOfEachKindPassByIt) {
  Expect("/g/whole", "whole");
  Expect("/g/pieces", "pieces");
  Expect("/g/length", "length");
  Expect("/g/ready", "ready");
  Expect("/files/small.txt", "small");
  Expect("/files/large.txt", std::string(300'000, 'x'));
  EXPECT_EQ(Ask(Get("/g/pieces")).Field("X-Own"), "yes");
  EXPECT_EQ(Ask(Get("/g/ready")).Field("X-Own"), "yes");
  EXPECT_EQ(Ask(Get("/g/route")).Field("X-Way"), "gs");
  EXPECT_EQ(Ask(Get("/server/whole")).Field("X-Way"), "s");
  EXPECT_EQ(Ask(Get("/free")).Field("X-Way"), "");
  EXPECT_EQ(Ask("POST /g/body HTTP/1.1\r\nHost: t\r\nContent-Length: 3\r\n\r\nabc").Field("X-Way"),
            "gs");
}

TEST_F(GroupHandlerTest, HeadAndConditionsStay) {
  HttpClient client(server_.Port());
  const HttpReply file = client.Ask(Get("/files/small.txt"));
  for (int i = 0; i < 2; ++i) {
    const HttpReply head = client.Ask(Bare("HEAD", "/files/small.txt"), Asked::kHead);
    EXPECT_EQ(head.Field("Content-Length"), "5");
    EXPECT_EQ(head.Field("X-Way"), "gs");
    const HttpReply same =
        client.Ask(Get("/files/small.txt", "If-None-Match: " + file.Field("ETag") + "\r\n"));
    EXPECT_EQ(same.status, 304);
    EXPECT_EQ(same.Field("X-Way"), "gs");
  }
  EXPECT_EQ(client.Ask(Bare("HEAD", "/g/pieces"), Asked::kHead).Field("X-Way"), "gs");
  EXPECT_EQ(client.Ask(Get("/files/small.txt", "Range: bytes=1-2\r\n")).body, "ma");
}

TEST_F(GroupHandlerTest, AnEarlyResponseIsAnOnionToo) {
  const HttpReply stopped = Ask(Get("/g/whole?stop=g"));
  EXPECT_EQ(stopped.body, "stopped");
  EXPECT_EQ(stopped.Field("X-Way"), "gs");
  EXPECT_EQ(Ask(Get("/g/whole?stop=s")).Field("X-Way"), "s");
  const HttpReply refused = Ask(Get("/g/whole?throw=g"));
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(refused.Field("X-Error"), "gg");
  EXPECT_EQ(refused.Field("X-Way"), "gs");
  EXPECT_EQ(Ask("POST /g/body?stop=g HTTP/1.1\r\nHost: t\r\nContent-Length: 3\r\n\r\nabc").body,
            "stopped");
}

TEST_F(GroupHandlerTest, AfterSeesAWholeBodyAndReplacesAny) {
  EXPECT_EQ(Ask(Get("/g/whole?seen=g")).Field("X-Seen"), "200 (whole)");
  EXPECT_EQ(Ask(Get("/g/ready?seen=g")).Field("X-Seen"), "200 (ready)");
  EXPECT_EQ(Ask(Get("/g/pieces?seen=g")).Field("X-Seen"), "200 ()");
  for (const std::string way : {"/g/whole", "/g/pieces", "/g/length", "/g/ready", "/g/nothing",
                                "/files/small.txt", "/files/large.txt"}) {
    HttpClient client(server_.Port());
    const HttpReply reply = client.Ask(Get(way + "?replace=g"));
    EXPECT_EQ(reply.status, 203) << way;
    EXPECT_EQ(reply.body, "replaced") << way;
    EXPECT_EQ(client.Ask(Get("/free")).body, "free") << "after " << way;
  }
  EXPECT_EQ(Ask(Get("/g/whole?fail=g")).status, 409);
  EXPECT_EQ(Ask(Get("/g/whole?fail=g")).Field("X-Way"), "s");
  EXPECT_EQ(Ask(Get("/g/pieces?fail=s")).status, 409);
}

TEST_F(GroupHandlerTest, ErrorsAreToldAndFormatted) {
  const HttpReply thrown = Ask(Get("/g/throw"));
  EXPECT_EQ(thrown.status, 418);
  EXPECT_EQ(thrown.Field("X-Error"), "gthrown");
  EXPECT_EQ(thrown.Field("X-Way"), "gs");
  EXPECT_EQ(Ask(Get("/g/nothing")).Field("X-Way"), "gs");
  const HttpReply json = Ask(Get("/g/json/x?seen=s"));
  EXPECT_EQ(json.body, R"({"detail":"none","status":404,"title":"Not Found"})");
  EXPECT_EQ(json.Field("X-Seen"), "404 (" + json.body + ")");
  const HttpReply malformed =
      Ask(Bare("POST", "/g/body", "Transfer-Encoding: chunked\r\n") + "z\r\n");
  EXPECT_EQ(malformed.status, 400);
  EXPECT_EQ(malformed.Field("X-Way"), "gs");
  test::CapturedStderr captured;
  const HttpReply broken = Ask(Get("/g/broken"));
  EXPECT_EQ(broken.status, 500);
  EXPECT_EQ(broken.Field("X-Way"), "gs");
  EXPECT_NE(captured.Text().find("threw: broken"), std::string::npos);
}

TEST_F(GroupHandlerTest, WhatHasBegunIsCutAsWithoutMiddleware) {
  test::CapturedStderr captured;
  EXPECT_FALSE(Ask(Get("/g/cut")).complete);
  EXPECT_EQ(Ask(Get("/g/twice")).body, "once");
}

TEST_F(GroupHandlerTest, AnotherHandlersResponseIsItsOwn) {
  const HttpReply reply = Ask(Get("/g/elsewhere"));
  EXPECT_EQ(reply.body, "free");
  EXPECT_EQ(reply.Field("X-Way"), "");
}

// Otherwise middleware would run twice around it when it is sent again.
TEST(GroupHandlerCache, KeepsTheHandlersOwnResponse) {
  std::atomic<int> calls{0};
  RunningServer server([&](HttpServer& http) {
    RouteGroup group = http.Group("").Use(Named("g"));
    group.Mount("/", Cached({}, test::Answering([&](Exchange& exchange) {
                              ++calls;
                              Response response(200);
                              response.Set("Cache-Control", "max-age=60");
                              if (exchange.SubPath() == "/pieces") {
                                exchange.BeginReply(response);
                                exchange.Write("pieces");
                                exchange.End();
                              } else {
                                exchange.Reply(response.Body(std::string("whole")));
                              }
                            })));
  });
  for (const std::string way : {"whole", "pieces"}) {
    for (int i = 0; i < 3; ++i) {
      const HttpReply reply = HttpClient(server.Port()).Ask(Get("/" + way));
      EXPECT_EQ(reply.body, way);
      EXPECT_EQ(reply.Field("X-Way"), "g");
    }
    EXPECT_EQ(HttpClient(server.Port()).Ask(Get("/" + way + "?replace=g")).body, "replaced");
    EXPECT_EQ(HttpClient(server.Port()).Ask(Get("/" + way + "?replace=g")).body, "replaced");
  }
  EXPECT_LE(calls, 6);
}

TEST(GroupHandlerCache, KeepsNoResponseOfAHandlerThatHasThrown) {
  std::atomic<int> calls{0};
  RunningServer server([&](HttpServer& http) {
    http.Group("").Use(Named("g")).Mount("/", Cached({}, test::Answering([&](Exchange&) {
                                                       ++calls;
                                                       throw HttpError(404, "not yet");
                                                     })));
  });
  for (int i = 1; i < 4; ++i) {
    const HttpReply reply = HttpClient(server.Port()).Ask(Get("/"));
    EXPECT_EQ(reply.status, 404);
    EXPECT_EQ(reply.Field("X-Error"), "gnot yet");
    EXPECT_EQ(calls, i);
  }
}

// As in a route, with middleware and without.
TEST(GroupHandler, AMountMayThrowAnHttpError) {
  RunningServer server([](HttpServer& http) {
    http.Mount("/", test::Answering([](Exchange&) { throw HttpError(410, "gone for good"); }));
    http.Group("/group").Mount("", test::Answering([](Exchange&) { throw HttpError(410); }));
  });
  test::CapturedStderr captured;
  const HttpReply reply = HttpClient(server.Port()).Ask(Get("/"));
  EXPECT_EQ(reply.status, 410);
  EXPECT_NE(reply.body.find("gone for good"), std::string::npos);
  EXPECT_EQ(HttpClient(server.Port()).Ask(Get("/group")).status, 410);
  EXPECT_EQ(captured.Text(), "");
}

TEST(GroupHandlerPrefix, WhatIsNoPathOfAMountIsRefused) {
  HttpServer server(NetAddress("127.0.0.1", 0));
  const HandlerFactory factory = test::Answering(Respond);
  EXPECT_NO_THROW(server.Group("").Mount("", factory).Mount("/", factory).Mount("/a", factory));
  EXPECT_NO_THROW(server.Group("/a").Mount("", factory).Mount("/b", factory));
  EXPECT_THROW(server.Group("/a").Mount("/", factory), std::invalid_argument);
  EXPECT_THROW(server.Group("/a").Mount("b", factory), std::invalid_argument);
  EXPECT_THROW(server.Group("").Mount("b", factory), std::invalid_argument);
  EXPECT_THROW(server.Mount("b", factory), std::invalid_argument);
  try {
    server.Group("/{who}").Mount("/files", factory);
    FAIL() << "it was taken";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "mount \"/{who}/files\": a mount has no parameters");
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
