// Routes on a live server: the arguments of handlers, and the effect of their responses and
// exceptions.
#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/http_error.h"
#include "support/captured_stderr.h"
#include "support/http_client.h"
#include "support/running_server.h"

namespace TURTLE_SERVER {
namespace {

using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::RunningServer;

// Returns a request with this method, and perhaps more fields, each with its line end.
auto Bare(const std::string& method, const std::string& target, const std::string& fields = "")
    -> std::string {
  return method + " " + target + " HTTP/1.1\r\nHost: t\r\n" + fields + "\r\n";
}

auto WithBody(const std::string& method, const std::string& target, const std::string& body,
              const std::string& fields = "") -> std::string {
  return Bare(method, target, fields + "Content-Length: " + std::to_string(body.size()) + "\r\n") +
         body;
}

void Greet(const ServerRequest& req, ServerResponse& res) {
  res.Text("hello, " + std::string(req.Parameter("name")));
}

// Records the path of a request. The loop's thread adds, the test's takes.
class Steps {
 public:
  void Add(const std::string& step) {
    const std::lock_guard lock(mutex_);
    steps_ += step;
  }

  // Returns what was added since the last call.
  auto Take() -> std::string {
    const std::lock_guard lock(mutex_);
    return std::exchange(steps_, "");
  }

 private:
  std::mutex mutex_;
  std::string steps_;
};

TEST(RoutesTest, AHandlerAnswersItsPathAndItsMethod) {
  RunningServer server([](HttpServer& http) {
    http.Get("/hello/{name}", Greet);
    http.Post("/n/{n:int}", [](const ServerRequest& req, ServerResponse& res) {
      res.Status(201).Set("X-N", std::to_string(req.Integer("n") + 1));
    });
  });
  HttpClient client(server.Port());
  const HttpReply reply = client.Ask(Get("/hello/ada"));
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, "hello, ada");
  EXPECT_EQ(reply.Field("Content-Type"), "text/plain; charset=utf-8");
  EXPECT_EQ(reply.Field("Content-Length"), "10");
  EXPECT_EQ(client.Ask(Get("/hello/a%20b")).body, "hello, a b");
  EXPECT_EQ(client.Ask(Get("/x/../hello/ada?q")).body, "hello, ada");
  EXPECT_EQ(client.Ask(Get("/hello/")).status, 404);
  const HttpReply created = client.Ask(Bare("POST", "/n/41"));
  EXPECT_EQ(created.status, 201);
  EXPECT_EQ(created.Field("X-N"), "42");
  EXPECT_EQ(created.Field("Content-Length"), "0");
}

TEST(RoutesTest, AnEncodedSlashEndsNoParameter) {
  RunningServer server([](HttpServer& http) { http.Get("/hello/{name}", Greet); });
  EXPECT_EQ(HttpClient(server.Port()).Ask(Get("/hello/a%2Fb")).status, 400);
}

TEST(RoutesTest, MethodsThatAreNotThereAreNamed) {
  RunningServer server([](HttpServer& http) {
    http.Get("/hello/{name}", Greet);
    http.Delete("/hello/{name}", [](const ServerRequest&, ServerResponse&) {});
    http.Put("/other", [](const ServerRequest&, ServerResponse&) {});
  });
  HttpClient client(server.Port());
  const HttpReply put = client.Ask(WithBody("PUT", "/hello/ada", "x"));
  EXPECT_EQ(put.status, 405);
  EXPECT_EQ(put.Field("Allow"), "GET, HEAD, DELETE, OPTIONS");
  const HttpReply options = client.Ask(Bare("OPTIONS", "/hello/ada"));
  EXPECT_EQ(options.status, 204);
  EXPECT_EQ(options.Field("Allow"), "GET, HEAD, DELETE, OPTIONS");
  const HttpReply all = client.Ask(Bare("OPTIONS", "*"));
  EXPECT_EQ(all.status, 204);
  EXPECT_EQ(all.Field("Allow"), "GET, HEAD, PUT, DELETE, OPTIONS");
  const HttpReply head = client.Ask(Bare("HEAD", "/hello/ada"), test::Asked::kHead);
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.Field("Content-Length"), "10");
  EXPECT_EQ(client.Ask(Get("/hello/ada")).body, "hello, ada") << "nothing came behind the head";
}

TEST(RoutesTest, APathWithoutRoutesIsOneOfTheMounts) {
  RunningServer server([](HttpServer& http) {
    http.Get("/a/{name}", Greet);
    http.Mount("/a/long", test::Answering([](Exchange& exchange) {
                 exchange.Reply(TextResponse(200, exchange.SubPath()));
               }));
  });
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Get("/a/long")).body, "hello, long") << "a route comes first";
  EXPECT_EQ(client.Ask(Get("/a/long/path")).body, "/path");
  EXPECT_EQ(client.Ask(Bare("DELETE", "/a/long")).status, 405) << "and knows the methods";
  EXPECT_EQ(client.Ask(Bare("DELETE", "/a/long/path")).body, "/path");
  EXPECT_EQ(client.Ask(Get("/b")).status, 404);
  EXPECT_EQ(client.Ask(Bare("OPTIONS", "*")).Field("Allow"), "GET, HEAD, OPTIONS");
}

TEST(RoutesTest, TheServerItselfNamesTheMethodsOfItsMounts) {
  RunningServer server([](HttpServer& http) {
    http.Put("/a", [](const ServerRequest&, ServerResponse&) {});
    http.Mount("/", test::Answering([](Exchange& exchange) { exchange.Reply(Response(200)); }));
  });
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Bare("OPTIONS", "*")).Field("Allow"), "GET, HEAD, PUT, OPTIONS");
}

TEST(RoutesTest, AHandlerIsCalledWhenTheBodyIsComplete) {
  HttpOptions options;
  options.body.max_body_bytes = 100'000;
  RunningServer server(
      [](HttpServer& http) {
        http.Post("/echo/{name}", [](const ServerRequest& req, ServerResponse& res) {
          res.Body(std::string(req.Parameter("name")) + ":" + std::string(req.Body()));
        });
      },
      options);
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(WithBody("POST", "/echo/a", "bcd")).body, "a:bcd");
  const std::string large(90'000, 'x');
  EXPECT_EQ(client.Ask(WithBody("POST", "/echo/a", large)).body, "a:" + large);
  EXPECT_TRUE(client.Send(Bare("POST", "/echo/a", "Transfer-Encoding: chunked\r\n")));
  EXPECT_TRUE(client.Send("2\r\nbc\r\n"));
  EXPECT_TRUE(client.Send("1\r\nd\r\n0\r\n\r\n"));
  EXPECT_EQ(client.ReadReply().body, "a:bcd");
  EXPECT_TRUE(
      client.Send(Bare("POST", "/echo/a", "Content-Length: 1\r\nExpect: 100-continue\r\n")));
  EXPECT_EQ(client.ReadReply().status, 100);
  EXPECT_EQ(client.Ask("y").body, "a:y");
  EXPECT_EQ(client.Ask(WithBody("POST", "/echo/a", std::string(100'001, 'x'))).status, 413);
}

// The body is not even requested.
TEST(RoutesTest, WhatNobodyTakesIsRefusedBeforeItIsSent) {
  RunningServer server([](HttpServer& http) { http.Get("/a", Greet); });
  HttpClient client(server.Port());
  const std::string expect = "Content-Length: 5\r\nExpect: 100-continue\r\n";
  EXPECT_EQ(client.Ask(Bare("POST", "/a", expect)).status, 405);
}

TEST(RoutesTest, ARequestIsUnderstoodWhereItIsAskedFor) {
  RunningServer server([](HttpServer& http) {
    http.Get("/query", [](const ServerRequest& req, ServerResponse& res) {
      res.Text(std::string(req.Query("a").value_or("-")) + "," +
               std::string(req.Query("b").value_or("-")));
    });
    http.Get("/cookie", [](const ServerRequest& req, ServerResponse& res) {
      res.SetCookie(SetCookie("seen", "1").HttpOnly()).Text(req.Cookie("seen").value_or("never"));
    });
    http.Post("/form", [](const ServerRequest& req, ServerResponse& res) {
      res.Text(req.Form().Find("name").value_or("-"));
    });
    http.Get("/header", [](const ServerRequest& req, ServerResponse& res) {
      res.Text(std::string(req.Header("x-a").value_or("-")) + " " + std::string(req.Target()));
    });
  });
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Get("/query?a=1+2&b=%C3%A4&a=3")).body, "1 2,\xc3\xa4");
  EXPECT_EQ(client.Ask(Get("/query?c")).body, "-,-");
  std::string many = "/query?";
  for (int i = 0; i < 1001; ++i) {
    many += "a&";
  }
  EXPECT_EQ(client.Ask(Get(many)).status, 400);
  const HttpReply first = client.Ask(Get("/cookie"));
  EXPECT_EQ(first.body, "never");
  EXPECT_EQ(first.Field("Set-Cookie"), "seen=1; HttpOnly");
  EXPECT_EQ(client.Ask(Bare("GET", "/cookie", "Cookie: seen=1\r\n")).body, "1");
  EXPECT_EQ(client.Ask(Get("/cookie")).body, "never") << "that was another request";
  const std::string form = "Content-Type: application/x-www-form-urlencoded; charset=utf-8\r\n";
  EXPECT_EQ(client.Ask(WithBody("POST", "/form", "name=ada", form)).body, "ada");
  EXPECT_EQ(client.Ask(WithBody("POST", "/form", "name=ada")).status, 415);
  EXPECT_EQ(client.Ask(Bare("GET", "/header?q", "X-A: b\r\n")).body, "b /header?q");
}

TEST(RoutesTest, BothEndsOfTheConnectionAreKnown) {
  RunningServer server([](HttpServer& http) {
    http.Get("/ends", [](const ServerRequest& req, ServerResponse& res) {
      res.Text(req.Source().Ip() + " " + req.Destination().ToString());
    });
  });
  EXPECT_EQ(HttpClient(server.Port()).Ask(Get("/ends")).body,
            "127.0.0.1 127.0.0.1:" + std::to_string(server.Port()));
}

TEST(RoutesTest, JsonComesAndGoes) {
  RunningServer server([](HttpServer& http) {
    http.Post("/double", [](const ServerRequest& req, ServerResponse& res) {
      res.Json({{"result", 2 * req.Json().at("value").get<int>()}});
    });
  });
  HttpClient client(server.Port());
  const test::CapturedStderr errors;
  const HttpReply reply = client.Ask(WithBody("POST", "/double", R"({"value": 21})"));
  EXPECT_EQ(reply.body, R"({"result":42})");
  EXPECT_EQ(reply.Field("Content-Type"), "application/json");
  const HttpReply bad = client.Ask(WithBody("POST", "/double", "{\"value\":\n 21,}"));
  EXPECT_EQ(bad.status, 400);
  EXPECT_NE(bad.body.find("line 2, column 5"), std::string::npos) << bad.body;
  EXPECT_EQ(client.Ask(WithBody("POST", "/double", "[1]")).status, 400) << "of another form";
  EXPECT_EQ(client.Ask(WithBody("POST", "/double", R"({"value":"x"})")).status, 400);
  EXPECT_EQ(client.Ask(Bare("POST", "/double")).status, 400) << "nothing is no JSON";
  EXPECT_EQ(errors.Text(), "") << "a client's mistakes don't fill the log";
}

TEST(RoutesTest, ThereIsAPageForEachStatus) {
  RunningServer server([](HttpServer& http) {
    http.Get("/gone",
             [](const ServerRequest&, ServerResponse& res) { res.Page(410, "<long ago>"); });
    http.Get("/away", [](const ServerRequest&, ServerResponse& res) { res.Redirect("/here"); });
    http.Get("/error", [](const ServerRequest&, ServerResponse& res) {
      res.Text("forgotten").Set("X-A", "forgotten");
      throw HttpError(409, "taken");
    });
  });
  HttpClient client(server.Port());
  const HttpReply gone = client.Ask(Get("/gone"));
  EXPECT_EQ(gone.status, 410);
  EXPECT_NE(gone.body.find("<p>&lt;long ago&gt;</p>"), std::string::npos);
  const HttpReply away = client.Ask(Get("/away"));
  EXPECT_EQ(away.status, 303);
  EXPECT_EQ(away.Field("Location"), "/here");
  const HttpReply error = client.Ask(Get("/error"));
  EXPECT_EQ(error.status, 409);
  EXPECT_NE(error.body.find("taken"), std::string::npos);
  EXPECT_EQ(error.Field("X-A"), "");
}

TEST(RoutesTest, AnExceptionIsALogged500AndTheLoopLives) {
  const test::CapturedStderr errors;
  RunningServer server([](HttpServer& http) {
    http.Get("/throws", [](const ServerRequest&, ServerResponse&) {
      throw std::runtime_error("as it was told");
    });
    http.Get("/int", [](const ServerRequest&, ServerResponse&) { throw 7; });
    http.Get("/typo/{name}", [](const ServerRequest& req, ServerResponse&) {
      static_cast<void>(req.Parameter("nmae"));
    });
    http.Get("/json", [](const ServerRequest&, ServerResponse&) {
      static_cast<void>(nlohmann::json(1).at("x"));  // its own, not the client's
    });
    http.Get("/field", [](const ServerRequest& req, ServerResponse& res) {
      res.Set("X-A", *req.Query("a"));
    });
    http.Get("/odd", [](const ServerRequest&, ServerResponse&) { throw HttpError(42, "odd"); });
  });
  HttpClient client(server.Port());
  for (const char* path :
       {"/throws", "/int", "/typo/a", "/json", "/field?a=b%0D%0AX-B:c", "/odd"}) {
    const HttpReply reply = client.Ask(Get(path));
    EXPECT_EQ(reply.status, 500) << path;
    EXPECT_EQ(reply.Field("X-B"), "");
    EXPECT_EQ(reply.body.find("told"), std::string::npos) << "nobody else is to know";
  }
  const std::string log = errors.Text();
  EXPECT_NE(log.find(": request handler threw: as it was told"), std::string::npos) << log;
  EXPECT_NE(log.find("GET /int: request handler threw something"), std::string::npos) << log;
  EXPECT_NE(log.find("the route has no parameter \"nmae\""), std::string::npos) << log;
}

TEST(RoutesTest, MiddlewareStandsAroundTheHandler) {
  Steps steps;
  const auto named = [&steps](const std::string& name) {
    Middleware middleware;
    middleware.before = [&steps, name](const ServerRequest&) {
      steps.Add("+" + name);
      return std::nullopt;
    };
    middleware.after = [&steps, name](const ServerRequest&, ServerResponse& res) {
      steps.Add("-" + name);
      res.Set("X-After", name);
    };
    return middleware;
  };
  RunningServer server([&](HttpServer& http) {
    http.Use(named("a")).Use(named("b"));
    http.Get("/hello/{name}", [&steps](const ServerRequest& req, ServerResponse& res) {
      steps.Add("!");
      Greet(req, res);
    });
  });
  HttpClient client(server.Port());
  const auto ask = [&](const std::string& request) {
    const HttpReply reply = client.Ask(request);
    return steps.Take() + " " + std::to_string(reply.status) + " " + reply.Field("X-After");
  };
  EXPECT_EQ(ask(Get("/hello/ada")), "+a+b!-b-a 200 a");
  EXPECT_EQ(ask(Bare("PUT", "/hello/ada")), "+a+b-b-a 405 a");
  EXPECT_EQ(ask(Bare("OPTIONS", "/hello/ada")), "+a+b-b-a 204 a");
  EXPECT_EQ(ask(Get("/elsewhere")), " 404 ") << "no route, no middleware";
}

TEST(RoutesTest, MiddlewareThatWasNotEnteredIsNotLeft) {
  Steps steps;
  const auto named = [&steps](const std::string& name) {
    Middleware middleware;
    middleware.before = [&steps, name](const ServerRequest& req) -> std::optional<ServerResponse> {
      steps.Add("+" + name);
      if (req.Query("throw") == name) {
        throw HttpError(403);
      }
      return req.Query("answer") == name ? std::optional(ServerResponse(401)) : std::nullopt;
    };
    middleware.after = [&steps, name](const ServerRequest&, ServerResponse&) {
      steps.Add("-" + name);
    };
    return middleware;
  };
  RunningServer server([&](HttpServer& http) {
    http.Use(named("a")).Use(named("b")).Use(named("c")).Get("/hello/{name}", Greet);
  });
  HttpClient client(server.Port());
  const auto ask = [&](const std::string& query) {
    const int status = client.Ask(Get("/hello/ada?" + query)).status;
    return steps.Take() + " " + std::to_string(status);
  };
  EXPECT_EQ(ask(""), "+a+b+c-c-b-a 200");
  EXPECT_EQ(ask("answer=a"), "+a-a 401");
  EXPECT_EQ(ask("answer=b"), "+a+b-b-a 401");
  EXPECT_EQ(ask("throw=b"), "+a+b-b-a 403");
}

TEST(RoutesTest, AnHttpErrorOnTheWayOutIsItsStatus) {
  RunningServer server([](HttpServer& http) {
    Middleware outer;
    outer.after = [](const ServerRequest&, ServerResponse& res) { res.Set("X-Outer", "seen"); };
    Middleware inner;
    inner.after = [](const ServerRequest&, ServerResponse&) { throw HttpError(418, "tea"); };
    http.Use(outer).Use(inner).Get("/hello/{name}", Greet);
    http.Get("/late", [](const ServerRequest&, const Responder& responder) {
      responder.Reply(ServerResponse());
    });
    http.Get("/stream", [](const ServerRequest&, const Responder& responder) {
      responder.Stream(ServerResponse()).Write("more");
    });
  });
  for (const char* path : {"/hello/ada", "/late", "/stream"}) {
    const HttpReply reply = HttpClient(server.Port()).Ask(Get(path));
    EXPECT_EQ(reply.status, 418) << path;
    EXPECT_EQ(reply.Field("X-Outer"), "seen") << path;
    EXPECT_NE(reply.body.find("tea"), std::string::npos) << path;
    EXPECT_EQ(reply.body.find("more"), std::string::npos) << path;
  }
}

TEST(RoutesTest, AnHttpErrorIsAnError) {
  EXPECT_THROW(HttpError(200), std::invalid_argument);
  EXPECT_THROW(HttpError(399), std::invalid_argument);
  EXPECT_THROW(HttpError(600), std::invalid_argument);
  EXPECT_EQ(HttpError(400).Status(), 400);
  EXPECT_EQ(HttpError(599).Status(), 599);
}

TEST(RoutesTest, MiddlewareSeesWhatIsRefusedWhileABodyComes) {
  HttpOptions options;
  options.body.max_body_bytes = 100;
  options.body_timeout = std::chrono::milliseconds(60);
  RunningServer server(
      [](HttpServer& http) {
        Middleware around;
        around.before = [](const ServerRequest&) -> std::optional<ServerResponse> {
          return std::nullopt;
        };
        around.after = [](const ServerRequest& req, ServerResponse& res) {
          res.Set("Access-Control-Allow-Origin", req.Path());
        };
        http.Use(around);
        http.Post("/whole", [](const ServerRequest&, ServerResponse& res) { res.Text("fine"); });
        http.Post("/pieces",
                  [](const ServerRequest&, const RequestBody& body, const Responder& responder) {
                    body.OnPiece([responder](std::string_view, bool last) {
                      if (last) {
                        responder.Reply(ServerResponse().Text("fine"));
                      }
                    });
                  });
        http.Mount("/", test::Answering([](Exchange& exchange) {
                     exchange.OnBody([&exchange](std::string_view, bool last) {
                       if (last) {
                         exchange.Reply(TextResponse(200, "fine"));
                       }
                     });
                   }));
      },
      options);
  const std::string chunks = "Transfer-Encoding: chunked\r\n";
  for (const std::string path : {"/whole", "/pieces", "/mounted"}) {
    const std::pair<std::string, int> cases[] = {
        {WithBody("POST", path, std::string(100, 'x')), 200},
        {Bare("POST", path, "Content-Length: 101\r\n"), 413},
        {Bare("POST", path, "Content-Length: 101\r\nExpect: 100-continue\r\n"), 413},
        {Bare("POST", path, chunks) + "65\r\n" + std::string(101, 'x') + "\r\n0\r\n\r\n", 413},
        {Bare("POST", path, chunks) + "z\r\n", 400},
        {Bare("POST", path, "Content-Length: 9\r\n") + "slow", 408},
    };
    for (const auto& [request, status] : cases) {
      HttpClient client(server.Port());
      ASSERT_TRUE(client.Send(request));
      const HttpReply reply = client.ReadReply();
      EXPECT_EQ(reply.status, status) << request;
      EXPECT_EQ(reply.Field("Access-Control-Allow-Origin"), path == "/mounted" ? "" : path)
          << request;
    }
  }
}

TEST(RoutesTest, OnlyTheClientsJsonIsTheClientsMistake) {
  const test::CapturedStderr errors;
  RunningServer server([](HttpServer& http) {
    http.Post("/own", [](const ServerRequest&, ServerResponse&) {
      static_cast<void>(nlohmann::json{{"a", 1}}.at("b"));
    });
    http.Post("/after", [](const ServerRequest& req, ServerResponse&) {
      static_cast<void>(req.Json().at("title").get<std::string>());
      static_cast<void>(nlohmann::json{{"a", 1}}.at("b"));  // its own exception
    });
    http.Post("/pieces", [](const ServerRequest&, const RequestBody& body, const Responder&) {
      body.OnPiece([](std::string_view, bool) {
        static_cast<void>(nlohmann::json{{"a", 1}}.at("b"));
      });
    });
    http.Post("/dump", [](const ServerRequest& req, ServerResponse& res) {
      static_cast<void>(req.Json());
      res.Text(nlohmann::json("\xff").dump());
    });
    http.Post("/read", [](const ServerRequest& req, ServerResponse& res) {
      res.Text(req.Json().at("title").get<std::string>());
    });
  });
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(WithBody("POST", "/own", "{}")).status, 500);
  EXPECT_EQ(client.Ask(WithBody("POST", "/dump", "{}")).status, 500);
  EXPECT_EQ(client.Ask(WithBody("POST", "/after", R"({"title": "x"})")).status, 500);
  EXPECT_EQ(client.Ask(WithBody("POST", "/after", R"({"title": 5})")).status, 400);
  EXPECT_EQ(client.Ask(WithBody("POST", "/read", "{}")).status, 400);
  EXPECT_EQ(HttpClient(server.Port()).Ask(WithBody("POST", "/pieces", "{}")).status, 500);
  const std::string log = errors.Text();
  EXPECT_NE(log.find("POST /own: request handler threw: "), std::string::npos) << log;
  EXPECT_NE(log.find("POST /dump: request handler threw: "), std::string::npos) << log;
  EXPECT_NE(log.find("POST /after: request handler threw: "), std::string::npos) << log;
  EXPECT_NE(log.find("POST /pieces: request handler threw: "), std::string::npos) << log;
  EXPECT_EQ(log.find("/read"), std::string::npos) << log;
}

TEST(RoutesTest, WhatMiddlewareThrowsTakesTheReplysPlace) {
  const test::CapturedStderr errors;
  RunningServer server([](HttpServer& http) {
    Middleware outer;
    outer.after = [](const ServerRequest&, ServerResponse& res) { res.Set("X-Outer", "seen"); };
    Middleware inner;
    inner.error = [](const ServerRequest& req, ServerResponse&, const std::exception&) {
      if (req.Query("error") == "409") {
        throw HttpError(409, "taken");
      }
      throw std::runtime_error("error went wrong");
    };
    inner.after = [](const ServerRequest& req, ServerResponse&) {
      if (req.Query("after")) {
        throw std::runtime_error("after went wrong");
      }
    };
    http.Use(outer).Use(inner);
    http.Get("/x", [](const ServerRequest& req, ServerResponse&) {
      if (req.Query("error")) {
        throw std::runtime_error("boom");
      }
    });
  });
  HttpClient client(server.Port());
  for (const auto& [target, status] : {std::pair<const char*, int>{"/x?error=409", 409},
                                       {"/x?error=500", 500},
                                       {"/x?after", 500},
                                       {"/x", 200}}) {
    const HttpReply reply = client.Ask(Get(target));
    EXPECT_EQ(reply.status, status) << target;
    EXPECT_EQ(reply.Field("X-Outer"), "seen") << target;
  }
  const std::string log = errors.Text();
  for (const char* line : {"GET /x: request handler threw: boom", "GET /x: middleware threw: error",
                           "GET /x: middleware threw: after"}) {
    EXPECT_NE(log.find(line), std::string::npos) << log;
  }
}

TEST(RoutesTest, WhatMiddlewareHasHandledIsNotLogged) {
  const test::CapturedStderr errors;
  RunningServer server([](HttpServer& http) {
    Middleware handled;
    handled.error = [](const ServerRequest& req, ServerResponse& res, const std::exception&) {
      if (req.Query("conflict")) {
        res.Page(409);
      }
    };
    http.Use(handled).Get("/x", [](const ServerRequest&, ServerResponse&) {
      throw std::runtime_error("there is one");
    });
  });
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Get("/x?conflict")).status, 409);
  EXPECT_EQ(errors.Text(), "");
  EXPECT_EQ(client.Ask(Get("/x")).status, 500);
  EXPECT_NE(errors.Text().find("GET /x: request handler threw: there is one"), std::string::npos)
      << errors.Text();
}

TEST(RoutesTest, MiddlewareMayAnswerAndIsToldOfErrors) {
  const test::CapturedStderr log;
  RunningServer server([](HttpServer& http) {
    Middleware door;
    door.before = [](const ServerRequest& req) -> std::optional<ServerResponse> {
      if (req.Header("Authorization")) {
        return std::nullopt;
      }
      ServerResponse refusal(401);
      refusal.Set("WWW-Authenticate", "Basic");
      return refusal;
    };
    door.error = [](const ServerRequest& req, ServerResponse& res, const std::exception& error) {
      res.Json({{"status", res.Status()}, {"error", error.what()}, {"path", req.Path()}});
    };
    http.Use(std::move(door));
    http.Post("/x", [](const ServerRequest&, ServerResponse&) { throw HttpError(422, "no"); });
    http.Post("/y", [](const ServerRequest&, ServerResponse&) { throw std::runtime_error("oh"); });
  });
  HttpClient client(server.Port());
  const std::string pass = "Authorization: x\r\n";
  EXPECT_EQ(client.Ask(WithBody("POST", "/x", "a")).status, 401);
  EXPECT_EQ(client.Ask(WithBody("POST", "/x", "a", pass)).body,
            R"({"error":"no","path":"/x","status":422})");
  EXPECT_EQ(client.Ask(WithBody("POST", "/y", "a", pass)).body,
            R"({"error":"oh","path":"/y","status":500})");
  HttpClient eager(server.Port());
  const HttpReply refused =
      eager.Ask(Bare("POST", "/x", "Content-Length: 900000\r\nExpect: 100-continue\r\n"));
  EXPECT_EQ(refused.status, 401) << "before the body is sent";
}

TEST(RoutesTest, MiddlewareThatThrowsIsA500) {
  const test::CapturedStderr log;
  RunningServer server([](HttpServer& http) {
    Middleware before;
    before.before = [](const ServerRequest& req) -> std::optional<ServerResponse> {
      if (req.Query("before")) {
        throw std::runtime_error("before");
      }
      return std::nullopt;
    };
    before.after = [](const ServerRequest& req, ServerResponse&) {
      if (req.Query("after")) {
        throw std::runtime_error("after");
      }
    };
    http.Use(before).Get("/hello/{name}", Greet);
  });
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Get("/hello/a?before")).status, 500);
  EXPECT_EQ(client.Ask(Get("/hello/a?after")).status, 500);
  EXPECT_EQ(client.Ask(Get("/hello/a")).status, 200);
}

TEST(RoutesTest, AConflictIsRefusedWhenItIsMade) {
  HttpServer server(NetAddress("127.0.0.1", 0));
  server.Get("/u/{id}", Greet);
  EXPECT_THROW(server.Get("/u/{name}", Greet), std::invalid_argument);
  EXPECT_THROW(server.Get("~(", Greet), std::invalid_argument);
  EXPECT_THROW(server.Route(Method::kConnect, "/x", Greet), std::invalid_argument);
  server.Put("/u/{name}", Greet);
}

TEST(RoutesTest, PipelinedRequestsAreAnsweredInOrder) {
  RunningServer server([](HttpServer& http) {
    http.Get("/hello/{name}", Greet);
    http.Post("/echo", [](const ServerRequest& req, ServerResponse& res) { res.Body(req.Body()); });
  });
  HttpClient client(server.Port());
  std::string requests;
  for (int i = 0; i < 100; ++i) {
    requests += Get("/hello/" + std::to_string(i)) + WithBody("POST", "/echo", std::to_string(i));
  }
  ASSERT_TRUE(client.Send(requests));
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(client.ReadReply().body, "hello, " + std::to_string(i));
    ASSERT_EQ(client.ReadReply().body, std::to_string(i));
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
