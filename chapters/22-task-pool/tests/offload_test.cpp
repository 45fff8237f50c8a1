// Handlers on a pool's threads: what they see, what their clients get, and when clients are
// dropped.
#include "web/offload.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "http/http_error.h"
#include "http/router.h"
#include "support/captured_stderr.h"
#include "support/clocked_server.h"
#include "support/gate.h"
#include "support/held_pool.h"
#include "support/http_client.h"
#include "support/running_server.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::milliseconds;
using test::Await;
using test::CapturedStderr;
using test::Gate;
using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::OpensAtEnd;
using test::RunningServer;

auto Threads(std::size_t threads, std::size_t max_queued = 1024) -> TaskPoolOptions {
  TaskPoolOptions options;
  options.threads = threads;
  options.max_queued = max_queued;
  return options;
}

auto PostOf(const std::string& target, const std::string& body, const std::string& fields = "")
    -> std::string {
  return "POST " + target + " HTTP/1.1\r\nHost: t\r\n" + fields +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

// A pool, and a server with one route that waits at a gate, and one that does not.
struct GatedServer {
  explicit GatedServer(std::size_t max_queued = 1024, OffloadOptions options = {})
      : pool(Threads(1, max_queued)) {
    pool.Start();
    server.emplace([&](HttpServer& http) {
      http.Get("/gate", Offload(pool, options, [this](const ServerRequest&, ServerResponse& res) {
                 gate.Pass();
                 res.Text("passed");
               }));
      http.Get("/count", Offload(pool, options, [this](const ServerRequest&, ServerResponse& res) {
                 ++calls;
                 res.Text("counted");
               }));
      http.Get("/now", [](const ServerRequest&, ServerResponse& res) { res.Text("now"); });
    });
  }
  GatedServer(const GatedServer&) = delete;
  auto operator=(const GatedServer&) -> GatedServer& = delete;
  ~GatedServer() { gate.Open(); }

  // Requests the route that waits for the gate.
  auto Occupy(HttpClient& client) -> bool {
    return client.Send(Get("/gate")) && gate.AwaitArrivals(1);
  }
  auto AwaitQueued(std::size_t count) -> bool {
    return Await([&] { return pool.Figures().queued == count; });
  }

  Gate gate;
  std::atomic<int> calls{0};
  TaskPool pool;
  std::optional<RunningServer> server;
};

TEST(OffloadTest, TheHandlerRunsOnAThreadOfThePool) {
  TaskPool pool(Threads(1));
  pool.Start();
  std::thread::id thread;
  RunningServer server([&](HttpServer& http) {
    http.Get("/", Offload(pool, Priority::kLow, [&](const ServerRequest&, ServerResponse& res) {
               thread = std::this_thread::get_id();
               res.Status(201).Set("X-One", "1").Text("from afar");
             }));
  });
  HttpClient client(server.Port());
  const HttpReply reply = client.Ask(Get("/"));
  EXPECT_EQ(reply.status, 201);
  EXPECT_EQ(reply.Field("X-One"), "1");
  EXPECT_EQ(reply.body, "from afar");
  const HttpReply head = client.Ask("HEAD / HTTP/1.1\r\nHost: t\r\n\r\n", test::Asked::kHead);
  EXPECT_EQ(head.Field("Content-Length"), "9");
  EXPECT_NE(thread, server.Ask([] { return std::this_thread::get_id(); }));
  EXPECT_NE(thread, std::this_thread::get_id());
}

TEST(OffloadTest, TheHandlerHasTheContext) {
  struct User {
    std::string name;
  };
  TaskPool pool({1});
  pool.Start();
  RunningServer server([&](HttpServer& http) {
    Middleware login;
    login.before = [](const ServerRequest& req) -> std::optional<ServerResponse> {
      req.Set<User>({"ada"});
      return std::nullopt;
    };
    login.after = [](const ServerRequest& req, ServerResponse& res) {
      res.Set("X-User", req.Get<User>().name);
    };
    http.Use(login);
    http.Get("/", Offload(pool, {}, [](const ServerRequest& req, ServerResponse& res) {
               res.Text("hello, " + req.Get<User>().name);
               req.Set<User>({"bob"});  // in the handler's own context
             }));
  });
  const HttpReply reply = HttpClient(server.Port()).Ask(Get("/"));
  EXPECT_EQ(reply.body, "hello, ada");
  EXPECT_EQ(reply.Field("X-User"), "ada");
}

TEST(OffloadTest, WithoutThreadsItRunsOnTheLoop) {
  TaskPool pool(Threads(0));
  std::thread::id thread;
  RunningServer server([&](HttpServer& http) {
    http.Get("/", Offload(pool, Priority::kLow, [&](const ServerRequest& req, ServerResponse& res) {
               thread = std::this_thread::get_id();
               res.Text(req.Cancelled() ? "?" : "from here");
             }));
  });
  EXPECT_EQ(HttpClient(server.Port()).Ask(Get("/")).body, "from here");
  EXPECT_EQ(thread, server.Ask([] { return std::this_thread::get_id(); }));
}

TEST(OffloadTest, NeighboursDoNotWait) {
  GatedServer all;
  HttpClient patient(all.server->Port());
  ASSERT_TRUE(all.Occupy(patient));
  EXPECT_EQ(HttpClient(all.server->Port()).Ask(Get("/now")).body, "now");
  EXPECT_FALSE(patient.HasInput(milliseconds(0)));
  all.gate.Open();
  EXPECT_EQ(patient.ReadReply().body, "passed");
}

// Returns everything that a handler may query, as text.
auto Everything(const ServerRequest& req) -> std::string {
  std::string text = std::string(req.Head().method_text) + ' ' + std::string(req.Target()) + ' ' +
                     std::string(req.Path()) + " q=" + std::string(req.Query("q").value_or("-")) +
                     " h=" + std::string(req.Header("X-Some").value_or("-")) +
                     " c=" + std::string(req.Cookie("c").value_or("-")) +
                     " host=" + std::string(req.Head().host) + " from=" + req.Source().ToString() +
                     " to=" + req.Destination().ToString();
  return text.append(" body=").append(req.Body());
}

// While the handler waits, the client sends more over the memory that its request was read into,
// leaves, and the server ends with its routers and loops.
TEST(OffloadTest, TheRequestIsTheHandlersOwn) {
  Gate gate;
  TaskPool pool(Threads(1));
  const OpensAtEnd opens(gate);
  pool.Start();
  std::string seen;
  std::string from;
  std::string to;
  const auto handler = [&](const ServerRequest& req, ServerResponse& res) {
    gate.Pass();
    seen = Everything(req) + " name=" + std::string(req.Parameter("name")) +
           " id=" + std::to_string(req.Integer("id")) +
           " form=" + std::string(req.Form().Find("a").value_or("-"));
    EXPECT_THROW(static_cast<void>(req.Parameter("other")), std::out_of_range);
    EXPECT_TRUE(req.Cancelled());
    res.Text("nobody hears it");
  };
  {
    RunningServer server(
        [&](HttpServer& http) { http.Post("/users/{name}/{id:int}", Offload(pool, {}, handler)); });
    HttpClient client(server.Port());
    to = server.Get().LocalAddress().ToString();
    from = [&] {
      NetAddress own;
      ::getsockname(client.GetFd(), own.Data(), own.Length());
      return own.ToString();
    }();
    ASSERT_TRUE(client.Send(PostOf("/users//ada%20b/7?q=a+query", "a=some+text&b=2",
                                   "X-Some: field\r\nCookie: c=cookie\r\nContent-Type: "
                                   "application/x-www-form-urlencoded\r\n")));
    ASSERT_TRUE(gate.AwaitArrivals(1));
    ASSERT_TRUE(client.Send("GET /" + std::string(20'000, 'x')));
    HttpClient neighbour(server.Port());
    EXPECT_EQ(neighbour.Ask(Get("/users/" + std::string(2000, 'y'))).status, 404);
    client.Reset();
    ASSERT_TRUE(server.Await([&] { return server.GetLooper().ConnectionCount() == 1; }));
  }
  gate.Open();
  pool.Stop();
  EXPECT_EQ(seen,
            "POST /users//ada%20b/7?q=a+query /users/ada b/7 q=a query h=field c=cookie "
            "host=t from=" +
                from + " to=" + to + " body=a=some+text&b=2 name=ada b id=7 form=some text");
}

// Bodies of all sizes: within the string object, and outside of it; in pieces, and whole.
TEST(OffloadTest, BodiesComeWhole) {
  TaskPool pool(Threads(2));
  pool.Start();
  RunningServer server([&](HttpServer& http) {
    http.Post("/echo/{rest...}",
              Offload(pool, {},
                      [](const ServerRequest& req, ServerResponse& res) { res.Text(req.Body()); }));
    http.Post(R"(~/re/(?P<word>\w+))",
              Offload(pool, {}, [](const ServerRequest& req, ServerResponse& res) {
                res.Json({{"word", req.Parameter("word")}, {"sent", req.Json()}});
              }));
  });
  HttpClient client(server.Port());
  for (const std::size_t size : {0, 1, 15, 16, 5000, 300'000}) {
    const std::string body(size, 'b');
    EXPECT_EQ(client.Ask(PostOf("/echo/a/b", body)).body, body) << size;
  }
  const std::string chunked =
      "POST /re/word HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n";
  ASSERT_TRUE(client.Send(chunked + "3\r\n[1,\r\n"));
  server.Settle();
  EXPECT_EQ(client.Ask("2\r\n2]\r\n0\r\n\r\n").body, R"({"sent":[1,2],"word":"word"})");
}

// After a program's local redirect, the target is not part of the head that the client sent.
TEST(OffloadTest, ARedirectedRequestIsCopiedAsItIs) {
  TaskPool pool(Threads(1));
  pool.Start();
  RunningServer server([&](HttpServer& http) {
    http.Mount("/",
               test::Answering([](Exchange& exchange) { exchange.ReplyFrom("/to//7?q=new"); }));
    http.Get("/to/{id:int}", Offload(pool, {}, [](const ServerRequest& req, ServerResponse& res) {
               res.Text(Everything(req) + " id=" + std::string(req.Parameter("id")));
             }));
  });
  const std::string body =
      HttpClient(server.Port()).Ask(Get("/from?q=old", "X-Some: field\r\n")).body;
  EXPECT_EQ(body.find("GET /to//7?q=new /to/7 q=new h=field c=- host=t"), 0U) << body;
  EXPECT_NE(body.find("id=7"), std::string::npos) << body;
}

TEST(OffloadTest, AFullQueueIs503AtOnce) {
  OffloadOptions options;
  options.retry_after = std::chrono::seconds(7);
  GatedServer all(1, options);
  HttpClient first(all.server->Port());
  HttpClient second(all.server->Port());
  HttpClient third(all.server->Port());
  ASSERT_TRUE(all.Occupy(first));
  ASSERT_TRUE(second.Send(Get("/count")));
  ASSERT_TRUE(all.AwaitQueued(1));
  const HttpReply refused = third.Ask(Get("/count"));
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.Field("Retry-After"), "7");
  EXPECT_EQ(all.pool.Figures().refused, 1U);
  EXPECT_EQ(third.Ask(Get("/now")).body, "now") << "on the same connection";
  all.gate.Open();
  EXPECT_EQ(first.ReadReply().body, "passed");
  EXPECT_EQ(second.ReadReply().body, "counted");
  EXPECT_EQ(third.Ask(Get("/count")).body, "counted");
  EXPECT_EQ(all.calls, 2);
}

TEST(OffloadTest, AClientThatGoesTakesItsRequestAlong) {
  GatedServer all;
  HttpClient first(all.server->Port());
  ASSERT_TRUE(all.Occupy(first));
  HttpClient leaving(all.server->Port());
  ASSERT_TRUE(leaving.Send(Get("/count")));
  ASSERT_TRUE(all.AwaitQueued(1));
  leaving.Reset();
  ASSERT_TRUE(all.AwaitQueued(0));
  EXPECT_EQ(all.pool.Figures().cancelled, 1U);
  all.gate.Open();
  EXPECT_EQ(first.ReadReply().body, "passed");
  EXPECT_EQ(all.calls, 0);
}

// A browser whose page is closed sends no reset, but a FIN; and then a reset for later bytes.
TEST(OffloadTest, AClientThatClosesHasGone) {
  GatedServer all;
  HttpClient first(all.server->Port());
  ASSERT_TRUE(all.Occupy(first));
  {
    HttpClient leaving(all.server->Port());
    ASSERT_TRUE(leaving.Send(Get("/count")));
    ASSERT_TRUE(all.AwaitQueued(1));
  }
  EXPECT_TRUE(all.AwaitQueued(0)) << "while it waits";
  {
    HttpClient fast(all.server->Port());
    ASSERT_TRUE(fast.Send(Get("/count")));
  }
  EXPECT_TRUE(Await([&] { return all.pool.Figures().cancelled == 2; })) << "before it was read";
  all.gate.Open();
  EXPECT_EQ(first.ReadReply().body, "passed");
  EXPECT_EQ(all.calls, 0);
}

// It has only finished sending, and waits for the response.
TEST(OffloadTest, AClientThatOnlySendsNoMoreIsAnswered) {
  GatedServer all;
  HttpClient first(all.server->Port());
  HttpClient modern(all.server->Port());
  HttpClient old(all.server->Port());
  ASSERT_TRUE(all.Occupy(first));
  ASSERT_TRUE(modern.Send(Get("/count")));
  modern.FinishSending();
  EXPECT_EQ(modern.ReadReply().status, 100) << "are you there?";
  ASSERT_TRUE(old.Send("GET /count HTTP/1.0\r\n\r\n"));
  old.FinishSending();
  ASSERT_TRUE(all.AwaitQueued(2));
  all.gate.Open();
  EXPECT_EQ(modern.ReadReply().body, "counted");
  EXPECT_TRUE(modern.IsClosedByServer());
  EXPECT_EQ(old.ReadReply().body, "counted") << "HTTP/1.0 has no interim replies";
}

TEST(OffloadTest, AHandlerCanAskWhetherItsClientIsStillThere) {
  Gate begun;
  std::atomic<bool> told{false};
  TaskPool pool(Threads(1));
  pool.Start();
  RunningServer server([&](HttpServer& http) {
    http.Get("/", Offload(pool, {}, [&](const ServerRequest& req, ServerResponse&) {
               EXPECT_FALSE(req.Cancelled());
               begun.Open();
               told = Await([&] { return req.Cancelled(); });
             }));
  });
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(Get("/")));
  begun.Pass();
  client.Reset();
  pool.Stop();
  EXPECT_TRUE(told);
}

// The pool's only thread does not get to check that the time is up.
TEST(OffloadTest, WhoseTurnDoesNotComeInTimeIsTold) {
  Gate gate;
  test::ManualClock clock;  // the pool's never turns: the loop notices
  TaskPool pool(Threads(1), clock.Source());
  const OpensAtEnd opens(gate);
  pool.Start();
  ASSERT_EQ(pool.Submit(MakeTask([&](const PoolTask&) { gate.Pass(); }), {}),
            SubmitResult::kAccepted);
  ASSERT_TRUE(gate.AwaitArrivals(1));
  OffloadOptions options(Priority::kHigh);
  options.deadline = milliseconds(500);
  options.retry_after = std::chrono::seconds(3);
  Routes routes;
  ErrorFormats errors;
  routes.Add(Method::kGet, "/", Offload(pool, options, [](const ServerRequest&, ServerResponse&) {
               ADD_FAILURE() << "it was too late";
             }));
  test::ClockedServer server([&](Looper&, LoopHttp& http) {
    http.SetRoutes(std::make_unique<RouteHandler>(routes, errors, MethodSet()));
  });
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(Get("/")));
  ASSERT_TRUE(Await([&] { return pool.Figures().queued == 1; }));
  server.Advance(milliseconds(499));
  EXPECT_EQ(pool.Figures().queued, 1U);
  server.Advance(milliseconds(1));
  EXPECT_EQ(pool.Figures().expired, 1U);
  const HttpReply reply = client.ReadReply();
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(reply.Field("Retry-After"), "3");
}

// The loop is late, and a thread of the pool notices first.
TEST(OffloadTest, ThePoolLooksAtTheDeadlineAsWell) {
  test::ManualClock clock;
  test::HeldPool pool(Threads(1), clock.Source());
  OffloadOptions options;
  options.deadline = milliseconds(500);
  Routes routes;
  ErrorFormats errors;
  routes.Add(Method::kGet, "/", Offload(pool, options, [](const ServerRequest&, ServerResponse&) {
               ADD_FAILURE() << "it was too late";
             }));
  test::ClockedServer server([&](Looper&, LoopHttp& http) {
    http.SetRoutes(std::make_unique<RouteHandler>(routes, errors, MethodSet()));
  });
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(Get("/")));
  ASSERT_TRUE(Await([&] { return pool.Figures().queued == 1; }));
  clock.Advance(milliseconds(500));
  pool.Release();
  EXPECT_EQ(client.ReadReply().status, 503);
  EXPECT_EQ(pool.Figures().expired, 1U);
}

TEST(OffloadTest, WhatAHandlerThrowsIsAnsweredAsOnTheLoop) {
  const CapturedStderr errors;
  TaskPool pool(Threads(1));
  pool.Start();
  std::thread::id told_on;
  int told = 0;
  RunningServer server([&](HttpServer& http) {
    Middleware around;
    around.error = [&](const ServerRequest&, ServerResponse& res, const std::exception& error) {
      told_on = std::this_thread::get_id();
      ++told;
      res.Set("X-What", error.what());
    };
    around.after = [](const ServerRequest& req, ServerResponse& res) {
      res.Set("X-Path", req.Path());
    };
    http.Use(around);
    http.Get("/http", Offload(pool, {}, [](const ServerRequest&, ServerResponse& res) {
               res.Text("half an answer");
               throw HttpError(404, "no such number");
             }));
    http.Get("/other", Offload(pool, {}, [](const ServerRequest&, ServerResponse&) {
               throw std::runtime_error("as it was told");
             }));
    http.Get("/odd", Offload(pool, {}, [](const ServerRequest&, ServerResponse&) { throw 42; }));
    http.Post("/json", Offload(pool, {}, [](const ServerRequest& req, ServerResponse& res) {
                res.Text(req.Json().at("name").get<std::string>());
              }));
  });
  HttpClient client(server.Port());
  const HttpReply missing = client.Ask(Get("/http"));
  EXPECT_EQ(missing.status, 404);
  EXPECT_NE(missing.body.find("no such number"), std::string::npos);
  EXPECT_EQ(missing.Field("X-Path"), "/http");
  EXPECT_EQ(missing.Field("X-What"), "no such number");
  EXPECT_EQ(told_on, server.Ask([] { return std::this_thread::get_id(); }));
  EXPECT_EQ(errors.Text(), "") << "that is the client's business";
  const HttpReply broken = client.Ask(Get("/other"));
  EXPECT_EQ(broken.status, 500);
  EXPECT_EQ(broken.body.find("as it was told"), std::string::npos);
  EXPECT_EQ(client.Ask(Get("/odd")).status, 500);
  EXPECT_EQ(client.Ask(PostOf("/json", R"({"name": 7})")).status, 400);
  EXPECT_EQ(client.Ask(PostOf("/json", R"({"name": "ada"})")).body, "ada");
  EXPECT_EQ(told, 3) << "42 is no std::exception";
  EXPECT_NE(errors.Text().find("as it was told"), std::string::npos);
}

TEST(OffloadTest, WhoIsRefusedBeforeIsNotOffloaded) {
  TaskPool pool(Threads(1));
  pool.Start();
  RunningServer server([&](HttpServer& http) {
    Middleware guard;
    guard.before = [](const ServerRequest& req) -> std::optional<ServerResponse> {
      return req.Query("let") ? std::nullopt : std::optional(ServerResponse(403));
    };
    http.Use(guard).Get("/", Offload(pool, {}, [](const ServerRequest&, ServerResponse&) {}));
  });
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Get("/")).status, 403);
  EXPECT_EQ(pool.Figures().ran + pool.Figures().running + pool.Figures().queued, 0U);
  EXPECT_EQ(client.Ask(Get("/?let")).status, 200);
}

TEST(OffloadTest, APipelinedClientGetsItsAnswersInOrder) {
  TaskPool pool(Threads(3));
  pool.Start();
  RunningServer server([&](HttpServer& http) {
    const auto echo = [](const ServerRequest& req, ServerResponse& res) { res.Text(req.Target()); };
    http.Get("/far/{n}", Offload(pool, {}, echo)).Get("/near/{n}", echo);
  });
  HttpClient client(server.Port());
  std::string all;
  for (int i = 0; i < 100; ++i) {
    all += Get((i % 3 == 0 ? "/near/" : "/far/") + std::to_string(i));
  }
  ASSERT_TRUE(client.Send(all));
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(client.ReadReply().body, (i % 3 == 0 ? "/near/" : "/far/") + std::to_string(i));
  }
}

TEST(OffloadTest, EachOfManyGetsItsOwnAnswer) {
  constexpr int kClients = 16;
  constexpr int kRequests = 50;
  TaskPool pool(Threads(4));
  pool.Start();
  RunningServer server(
      [&](HttpServer& http) {
        http.Get("/{name}",
                 Offload(pool, Priority::kLow, [](const ServerRequest& req, ServerResponse& res) {
                   res.Text(std::string(req.Parameter("name")) + '?' +
                            std::string(req.Query("n").value_or("")));
                 }));
      },
      {}, 3);
  std::vector<std::thread> clients;
  for (int c = 0; c < kClients; ++c) {
    clients.emplace_back([&, c] {
      HttpClient client(server.Port());
      for (int i = 0; i < kRequests; ++i) {
        const std::string name = std::to_string(c);
        EXPECT_EQ(client.Ask(Get("/" + name + "?n=" + std::to_string(i))).body,
                  name + '?' + std::to_string(i));
      }
    });
  }
  for (std::thread& client : clients) {
    client.join();
  }
  EXPECT_TRUE(Await([&] { return pool.Figures().ran == kClients * kRequests; }));
}

TEST(OffloadTest, AServerThatStopsAnswersThoseWhoWait) {
  GatedServer all;
  HttpClient first(all.server->Port());
  HttpClient second(all.server->Port());
  ASSERT_TRUE(all.Occupy(first));
  ASSERT_TRUE(second.Send(Get("/count")));
  ASSERT_TRUE(all.AwaitQueued(1));
  all.server->Get().Stop();
  ASSERT_TRUE(all.server->Await([&] { return all.server->GetLooper().Stopping(); }));
  all.gate.Open();
  EXPECT_EQ(first.ReadReply().body, "passed");
  EXPECT_EQ(second.ReadReply().body, "counted");
  EXPECT_TRUE(second.IsClosedByServer());
}

TEST(OffloadTest, APoolThatStopsTellsThoseWhoWait) {
  GatedServer all;
  HttpClient first(all.server->Port());
  HttpClient second(all.server->Port());
  ASSERT_TRUE(all.Occupy(first));
  ASSERT_TRUE(second.Send(Get("/count")));
  ASSERT_TRUE(all.AwaitQueued(1));
  std::thread stopper([&] { all.pool.Stop(); });
  EXPECT_EQ(second.ReadReply().status, 503);
  EXPECT_EQ(second.Ask(Get("/count")).status, 503) << "from now on";
  EXPECT_FALSE(first.HasInput(milliseconds(0)));
  all.gate.Open();
  EXPECT_EQ(first.ReadReply().body, "passed") << "what runs finishes";
  stopper.join();
  EXPECT_EQ(all.calls, 0);
}

// The server is gone, and its clients with it, while requests wait and one is being handled.
TEST(OffloadTest, AServerThatHasEndedLeavesNothingWaiting) {
  GatedServer all;
  {
    HttpClient first(all.server->Port());
    ASSERT_TRUE(all.Occupy(first));
    std::vector<std::unique_ptr<HttpClient>> others;
    for (int i = 0; i < 5; ++i) {
      others.push_back(std::make_unique<HttpClient>(all.server->Port()));
      ASSERT_TRUE(others.back()->Send(Get("/count")));
    }
    ASSERT_TRUE(all.AwaitQueued(5));
    for (const auto& other : others) {
      other->Reset();
    }
    first.Reset();
  }
  all.server.reset();
  EXPECT_EQ(all.pool.Figures().queued, 0U);
  EXPECT_EQ(all.pool.Figures().cancelled, 5U);
  all.gate.Open();
  all.pool.Stop();
  EXPECT_EQ(all.pool.Figures().ran, 1U);
  EXPECT_EQ(all.calls, 0);
}

// Resets in the middle: nothing is asserted except that nothing is used after it is gone, which the
// sanitizers check.
TEST(OffloadTest, SurvivesClientsThatLeaveInTheMiddle) {
  TaskPool pool(Threads(2, 8));
  pool.Start();
  {
    RunningServer server([&](HttpServer& http) {
      OffloadOptions options;
      options.deadline = milliseconds(1);
      http.Post("/{name}",
                Offload(pool, options, [](const ServerRequest& req, ServerResponse& res) {
                  res.Text(std::string(req.Parameter("name")) + std::string(req.Body()));
                }));
    });
    for (int i = 0; i < 200; ++i) {
      HttpClient client(server.Port());
      ASSERT_TRUE(client.Send(PostOf("/a", "some") + PostOf("/b", "thing")));
      if (i % 2 == 0) {
        EXPECT_EQ(client.ReadReply().status / 100 % 3, 2);  // 200 or 503
      }
      client.Reset();
    }
  }
  pool.Stop();
}

TEST(RouteParametersTest, ACopyOutlivesRouterAndPath) {
  std::vector<std::string> names;
  std::string copy;
  RouteParameters parameters;
  {
    Router router;
    router.Add(Method::kGet, "/users/{name}/{path...}");
    const std::string path = "/users/ada/photos/7";
    parameters = router.Find(Method::kGet, path).parameters;
    copy = path;
    parameters.Rebase({path.data(), copy.data()}, names);
  }
  EXPECT_EQ(parameters.Find("name"), "ada");
  EXPECT_EQ(parameters.Find("path"), "photos/7");
  EXPECT_EQ(parameters.Find("other"), std::nullopt);
}

// A group that took no part in the match has a value that points nowhere.
TEST(RouteParametersTest, AnUnsetValueStaysUnset) {
  std::vector<std::string> names;
  Router router;
  router.Add(Method::kGet, "~/(a)?(b)?");
  const std::string path = "/b";
  const std::string copy = path;
  RouteParameters parameters = router.Find(Method::kGet, path).parameters;
  parameters.Rebase({path.data(), copy.data()}, names);
  EXPECT_EQ(parameters.Find("1"), "");
  EXPECT_EQ(parameters.Find("2"), "b");
}

TEST(RouteParametersTest, NoneAreNoneAfterwards) {
  std::vector<std::string> names;
  RouteParameters parameters;
  parameters.Rebase({"", ""}, names);
  EXPECT_EQ(parameters.Find("name"), std::nullopt);
  EXPECT_TRUE(names.empty());
}

TEST(ResponderFailTest, WithoutAnExceptionItIsALogged500) {
  const CapturedStderr errors;
  RunningServer server([](HttpServer& http) {
    http.Get("/", [](const ServerRequest&, const Responder& responder) { responder.Fail({}); });
  });
  EXPECT_EQ(HttpClient(server.Port()).Ask(Get("/")).status, 500);
  EXPECT_NE(errors.Text().find("Fail() without an exception"), std::string::npos);
}

TEST(ExchangeOfARequest, WhereAnotherHasAnsweredThereIsNoStream) {
  std::optional<ReplyStream> late;
  RunningServer server([&](HttpServer& http) {
    http.Get("/", [&](const ServerRequest& req, const Responder& responder) {
      req.GetExchange().BeginReply(Response(200), 5);
      late = responder.Stream(ServerResponse());
    });
  });
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(Get("/")));
  ASSERT_TRUE(server.Await([&] { return late && late->State() == StreamState::kGone; }));
  bool told = false;
  late->OnRoom([&told] { told = true; });
  server.Settle();
  EXPECT_TRUE(server.Ask([&] { return told; }));
  EXPECT_EQ(late->Write("wrong"), StreamState::kGone);
}

}  // namespace
}  // namespace TURTLE_SERVER
