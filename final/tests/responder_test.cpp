// Responses that come later, from other threads, for clients that may have left.
#include "web/responder.h"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/captured_stderr.h"
#include "support/http_client.h"
#include "support/running_server.h"
#include "task/thread_pool.h"

namespace TURTLE_SERVER {
namespace {

using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::RunningServer;

// Keeps the Responders of a server's requests; on the loop's thread, or by RunningServer::Ask().
struct Kept {
  auto Handler() -> AsyncHandler {
    return [this](const ServerRequest&, Responder responder) {
      responders.push_back(std::move(responder));
    };
  }

  std::vector<Responder> responders;
};

TEST(ResponderTest, ARequestThatIsDroppedIsALogged500) {
  const test::CapturedStderr errors;
  RunningServer server([](HttpServer& http) {
    http.Get("/dropped", [](const ServerRequest&, const Responder&) {});
  });
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Get("/dropped")).status, 500);
  const std::string log = errors.Text();
  EXPECT_NE(log.find("GET /dropped: the request was dropped"), std::string::npos) << log;
}

TEST(ResponderTest, AnswersFromAnotherThread) {
  ThreadPool pool(2);
  pool.Start();
  RunningServer server([&pool](HttpServer& http) {
    http.Get("/slow/{name}", [&pool](const ServerRequest& req, Responder responder) {
      const std::string name(req.Parameter("name"));
      ASSERT_TRUE(pool.Submit([name, responder = std::move(responder)] {
        EXPECT_TRUE(responder.Reply(ServerResponse().Text("hello, " + name)));
      }));
    });
  });
  HttpClient client(server.Port());
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(client.Ask(Get("/slow/" + std::to_string(i))).body, "hello, " + std::to_string(i));
  }
  const std::string head = "HEAD /slow/ada HTTP/1.1\r\nHost: t\r\n\r\n";
  EXPECT_EQ(client.Ask(head, test::Asked::kHead).Field("Content-Length"), "10");
  pool.Stop();
}

TEST(ResponderTest, AnswersWithinTheHandlerToo) {
  RunningServer server([](HttpServer& http) {
    http.Post("/now", [](const ServerRequest& req, Responder responder) {
      EXPECT_TRUE(responder.Reply(ServerResponse().Text(req.Body())));
    });
  });
  HttpClient client(server.Port());
  const std::string post = "POST /now HTTP/1.1\r\nHost: t\r\nContent-Length: 2\r\n\r\n";
  ASSERT_TRUE(client.Send(post + "ab" + post + "cd"));
  EXPECT_EQ(client.ReadReply().body, "ab");
  EXPECT_EQ(client.ReadReply().body, "cd");
}

TEST(ResponderTest, AnswersOnce) {
  Kept kept;
  RunningServer server([&](HttpServer& http) { http.Get("/", kept.Handler()); });
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(Get("/")));
  ASSERT_TRUE(server.Await([&] { return !kept.responders.empty(); }));
  const Responder responder = server.Ask([&] { return kept.responders.back(); });
  EXPECT_TRUE(responder.Reply(ServerResponse().Text("first")));
  EXPECT_FALSE(responder.Reply(ServerResponse().Text("second")));
  EXPECT_EQ(client.ReadReply().body, "first");
  ASSERT_TRUE(client.Send(Get("/")));
  ASSERT_TRUE(server.Await([&] { return kept.responders.size() == 2; }));
  EXPECT_FALSE(responder.Reply(ServerResponse().Text("third"))) << "that's another's request";
  server.Ask([&] { kept.responders.back().Reply(ServerResponse().Text("mine")); });
  EXPECT_EQ(client.ReadReply().body, "mine");
}

TEST(ResponderTest, Is500WhenItIsDropped) {
  const test::CapturedStderr errors;
  RunningServer server(
      [](HttpServer& http) { http.Get("/drop", [](const ServerRequest&, const Responder&) {}); });
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Get("/drop")).status, 500);
  EXPECT_EQ(client.Ask(Get("/drop")).status, 500) << "on the same connection";
  EXPECT_NE(errors.Text().find("dropped without a response"), std::string::npos);
}

TEST(ResponderTest, AHandlerThatThrowsIsA500AndOnce) {
  const test::CapturedStderr errors;
  RunningServer server([](HttpServer& http) {
    http.Get("/throw", [](const ServerRequest& req, const Responder& responder) {
      if (req.Query("late")) {
        responder.Reply(ServerResponse().Text("before that"));
      }
      throw std::runtime_error("as it was told");
    });
  });
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Get("/throw")).status, 500);
  EXPECT_EQ(client.Ask(Get("/throw?late")).body, "before that");
  EXPECT_EQ(errors.Text().find("dropped"), std::string::npos) << errors.Text();
}

TEST(ResponderTest, IsHarmlessWhenTheClientHasGone) {
  Kept kept;
  RunningServer server([&](HttpServer& http) { http.Get("/", kept.Handler()); });
  {
    HttpClient client(server.Port());
    ASSERT_TRUE(client.Send(Get("/")));
    ASSERT_TRUE(server.Await([&] { return !kept.responders.empty(); }));
    client.Reset();
  }
  ASSERT_TRUE(server.Await([&] { return server.GetLooper().ConnectionCount() == 0; }));
  const Responder responder =
      server.Ask([&] { return std::exchange(kept.responders, {}).front(); });
  EXPECT_TRUE(responder.Reply(ServerResponse().Text("nobody hears it")));
  HttpClient next(server.Port());  // very likely with the number of the first
  ASSERT_TRUE(next.Send(Get("/")));
  ASSERT_TRUE(server.Await([&] { return !kept.responders.empty(); }));
  server.Ask([&] { kept.responders.front().Reply(ServerResponse().Text("yours")); });
  EXPECT_EQ(next.ReadReply().body, "yours");
}

TEST(ResponderTest, IsHarmlessWhenTheServerHasEnded) {
  Kept kept;
  std::optional<Responder> late;
  {
    RunningServer server([&](HttpServer& http) { http.Get("/", kept.Handler()); });
    HttpClient client(server.Port());
    ASSERT_TRUE(client.Send(Get("/")));
    ASSERT_TRUE(server.Await([&] { return !kept.responders.empty(); }));
    late = server.Ask([&] { return std::exchange(kept.responders, {}).front(); });
    client.Reset();
  }
  EXPECT_FALSE(late->Reply(ServerResponse()));
}

TEST(ResponderTest, AServerThatStopsWaitsForIt) {
  Kept kept;
  std::optional<RunningServer> server;
  server.emplace([&](HttpServer& http) { http.Get("/", kept.Handler()); });
  HttpClient client(server->Port());
  ASSERT_TRUE(client.Send(Get("/")));
  ASSERT_TRUE(server->Await([&] { return !kept.responders.empty(); }));
  const Responder responder =
      server->Ask([&] { return std::exchange(kept.responders, {}).front(); });
  server->Get().Stop();
  ASSERT_TRUE(server->Await([&] { return server->GetLooper().Stopping(); }));
  EXPECT_TRUE(responder.Reply(ServerResponse().Text("at last")));
  EXPECT_EQ(client.ReadReply().body, "at last");
  EXPECT_TRUE(client.IsClosedByServer());
}

TEST(ResponderTest, RequestsBehindItWait) {
  Kept kept;
  RunningServer server([&](HttpServer& http) {
    http.Get("/late", kept.Handler());
    http.Get("/now", [](const ServerRequest&, ServerResponse& res) { res.Text("now"); });
  });
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(Get("/late") + Get("/now")));
  ASSERT_TRUE(server.Await([&] { return !kept.responders.empty(); }));
  HttpClient neighbour(server.Port());
  EXPECT_EQ(neighbour.Ask(Get("/now")).body, "now") << "nobody else does";
  server.Ask([&] { kept.responders.front().Reply(ServerResponse().Text("late")); });
  EXPECT_EQ(client.ReadReply().body, "late");
  EXPECT_EQ(client.ReadReply().body, "now");
}

TEST(ResponderTest, MiddlewareSeesTheAnswerAndTheRequest) {
  ThreadPool pool(1);
  pool.Start();
  RunningServer server([&pool](HttpServer& http) {
    Middleware mark;
    mark.after = [](const ServerRequest& req, ServerResponse& res) {
      res.Set("X-For", req.Parameter("name"));
    };
    http.Use(mark).Get("/{name}", [&pool](const ServerRequest&, const Responder& responder) {
      ASSERT_TRUE(pool.Submit([responder] { responder.Reply(ServerResponse(202)); }));
    });
  });
  const HttpReply reply = HttpClient(server.Port()).Ask(Get("/ada"));
  EXPECT_EQ(reply.status, 202);
  EXPECT_EQ(reply.Field("X-For"), "ada");
  pool.Stop();
}

TEST(ResponderTest, MiddlewareThatThrowsIsA500) {
  const test::CapturedStderr errors;
  RunningServer server([](HttpServer& http) {
    Middleware bad;
    bad.after = [](const ServerRequest&, ServerResponse&) { throw std::runtime_error("after"); };
    http.Use(bad).Get("/", [](const ServerRequest&, const Responder& responder) {
      responder.Reply(ServerResponse());
    });
  });
  EXPECT_EQ(HttpClient(server.Port()).Ask(Get("/")).status, 500);
}

// Responses, resets and the end of the server race with each other: nothing is asserted except that
// nothing is used after it is gone, which the sanitizers check.
TEST(ResponderTest, SurvivesClientsThatLeaveInTheMiddle) {
  ThreadPool pool(2);
  pool.Start();
  std::atomic<int> asked{0};
  {
    RunningServer server([&](HttpServer& http) {
      http.Get("/", [&](const ServerRequest&, const Responder& responder) {
        ++asked;
        static_cast<void>(pool.Submit([responder] { responder.Reply(ServerResponse()); }));
      });
    });
    for (int i = 0; i < 200; ++i) {
      HttpClient client(server.Port());
      ASSERT_TRUE(client.Send(Get("/") + Get("/")));
      if (i % 2 == 0) {
        EXPECT_EQ(client.ReadReply().status, 200);
      }
      client.Reset();
    }
  }
  pool.Stop();
  EXPECT_GE(asked.load(), 100);
}

}  // namespace
}  // namespace TURTLE_SERVER
