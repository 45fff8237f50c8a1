// Clients that leave before their response is there: their handlers learn of it.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "support/captured_stderr.h"
#include "support/clocked_server.h"
#include "support/http_client.h"
#include "support/running_server.h"
#include "web/responder.h"
#include "web/route_handler.h"

namespace TURTLE_SERVER {
namespace {

using test::Get;
using test::HttpClient;
using test::RunningServer;

auto TextOf(std::string_view text) -> ServerResponse {
  return std::move(ServerResponse().Text(text));
}

// A server whose "/" keeps each Responder, and counts the clients that have left.
class ResponderGoneTest : public testing::Test {
 protected:
  // Returns the Responder of the next request.
  auto Take() -> Responder {
    if (!server_->Await([this] { return !late_.empty(); })) {
      throw std::runtime_error("no handler was called");
    }
    return server_->Ask([this] { return std::exchange(late_, {}).front(); });
  }

  // Counts a call of OnGone()'s callback.
  auto Count() -> Task {
    return [this] {
      ++gone_;
      called_on_ = std::this_thread::get_id();
    };
  }

  // True once no client is left, and everything that follows from it is done.
  auto AllHaveLeft() -> bool {
    const bool left =
        server_->Await([this] { return server_->GetLooper().ConnectionCount() == 0; });
    server_->Settle();
    return left;
  }

  auto LoopThreadId() -> std::thread::id {
    return server_->Ask([] { return std::this_thread::get_id(); });
  }

  std::vector<Responder> late_;  // on the loop's thread
  std::atomic<int> gone_{0};
  std::thread::id called_on_;
  std::optional<RunningServer> server_{
      std::in_place, std::function<void(HttpServer&)>([this](HttpServer& http) {
        http.Get("/", [this](const ServerRequest&, Responder responder) {
          late_.push_back(std::move(responder));
        });
        http.Get("/watched", [this](const ServerRequest&, const Responder& responder) {
          responder.OnGone(Count());
          late_.push_back(responder);
        });
        http.Get("/dropped", [this](const ServerRequest&, const Responder& responder) {
          responder.OnGone(Count());
        });
        http.Post("/pieces", [this](const ServerRequest&, const RequestBody& body,
                                    const Responder& responder) {
          responder.OnGone(Count());
          body.OnPiece([responder](std::string_view, bool) {});
        });
        http.Get("/now", [](const ServerRequest&, ServerResponse& res) { res.Text("now"); });
      })};
};

TEST_F(ResponderGoneTest, IsCalledOnceWhenTheClientResets) {
  HttpClient client(server_->Port());
  ASSERT_TRUE(client.Send(Get("/watched")));
  const Responder responder = Take();
  EXPECT_EQ(gone_, 0);
  client.Reset();
  ASSERT_TRUE(AllHaveLeft());
  EXPECT_EQ(gone_, 1);
  EXPECT_EQ(called_on_, LoopThreadId());
  EXPECT_EQ(HttpClient(server_->Port()).Ask(Get("/now")).body, "now");  // in the same memory
  responder.Reply(TextOf("for nobody"));
  ASSERT_TRUE(AllHaveLeft());
  EXPECT_EQ(gone_, 1);
}

// It sends a FIN, as if it only stopped sending; and a reset for any later bytes.
TEST_F(ResponderGoneTest, IsCalledWhenTheClientCloses) {
  std::optional<Responder> responder;
  {
    HttpClient client(server_->Port());
    ASSERT_TRUE(client.Send(Get("/watched")));
    responder = Take();
  }
  ASSERT_TRUE(AllHaveLeft());
  EXPECT_EQ(gone_, 1);
}

TEST_F(ResponderGoneTest, IsCalledWhenTheClientHadClosedBefore) {
  std::optional<Responder> responder;
  {
    HttpClient client(server_->Port());
    ASSERT_TRUE(client.Send(Get("/")));
    responder = Take();
  }
  ASSERT_TRUE(server_->Await([&] {
    bool finished = false;
    server_->GetLooper().ForEachConnection(
        [&](Connection* each) { finished = each->PeerFinished(); });
    return finished;
  }));
  responder->OnGone(Count());
  ASSERT_TRUE(AllHaveLeft());
  EXPECT_EQ(gone_, 1);
}

TEST_F(ResponderGoneTest, IsCalledSoonWhenTheClientHasGone) {
  std::optional<HttpClient> client(server_->Port());
  ASSERT_TRUE(client->Send(Get("/")));
  const Responder responder = Take();
  client->Reset();
  ASSERT_TRUE(AllHaveLeft());
  responder.OnGone(Count());
  server_->Settle();
  EXPECT_EQ(gone_, 1);
  EXPECT_EQ(called_on_, LoopThreadId());
  responder.Reply(TextOf("for nobody"));
  responder.OnGone(Count());
  server_->Settle();
  EXPECT_EQ(gone_, 1) << "there is a response, so no work is left to be cancelled";
}

TEST_F(ResponderGoneTest, AClientThatOnlySendsNoMoreIsThere) {
  HttpClient client(server_->Port());
  ASSERT_TRUE(client.Send(Get("/watched")));
  const Responder responder = Take();
  client.FinishSending();
  EXPECT_EQ(client.ReadReply().status, 100) << "are you there?";
  responder.Reply(TextOf("yours"));
  EXPECT_EQ(client.ReadReply().body, "yours");
  EXPECT_TRUE(client.IsClosedByServer());
  ASSERT_TRUE(AllHaveLeft());
  EXPECT_EQ(gone_, 0);
}

TEST_F(ResponderGoneTest, IsNeverCalledAfterACompleteResponse) {
  HttpClient client(server_->Port());
  ASSERT_TRUE(client.Send(Get("/watched")));
  const Responder first = Take();
  first.Reply(TextOf("first"));
  EXPECT_EQ(client.ReadReply().body, "first");
  first.OnGone(Count());
  ASSERT_TRUE(client.Send(Get("/watched")));
  const Responder second = Take();
  first.OnGone(Count());
  second.Reply(TextOf("second"));
  EXPECT_EQ(client.ReadReply().body, "second");
  client.Reset();
  ASSERT_TRUE(AllHaveLeft());
  second.OnGone(Count());
  server_->Settle();
  EXPECT_EQ(gone_, 0);
}

TEST_F(ResponderGoneTest, AResponseThatEndsItsConnectionIsComplete) {
  for (const std::string_view request :
       {"GET /watched HTTP/1.0\r\n\r\n",
        "GET /watched HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n"}) {
    HttpClient client(server_->Port());
    ASSERT_TRUE(client.Send(request));
    const Responder responder = Take();
    responder.Reply(TextOf("all of it"));
    EXPECT_EQ(client.ReadReply().body, "all of it");
    EXPECT_TRUE(client.IsClosedByServer());
    ASSERT_TRUE(AllHaveLeft());
    responder.OnGone(Count());
    server_->Settle();
    EXPECT_EQ(gone_, 0) << request;
  }
}

TEST_F(ResponderGoneTest, CanBeAskedForOnAnotherThread) {
  const test::CapturedStderr errors;
  HttpClient client(server_->Port());
  ASSERT_TRUE(client.Send(Get("/")));
  std::thread([responder = Take(), count = Count()] {
    responder.OnGone(count);
    responder.OnGone(count);
  }).join();
  EXPECT_EQ(client.ReadReply().status, 500) << "no copy is left";
  client.Reset();
  ASSERT_TRUE(AllHaveLeft());
  EXPECT_EQ(gone_, 0);
  HttpClient leaving(server_->Port());
  ASSERT_TRUE(leaving.Send(Get("/")));
  const Responder responder = Take();
  std::thread([&] {
    responder.OnGone(Count());
    responder.OnGone(Count());
  }).join();
  leaving.Reset();
  ASSERT_TRUE(AllHaveLeft());
  EXPECT_EQ(gone_, 2) << "each of them";
}

TEST_F(ResponderGoneTest, AResponderThatIsDroppedIs500AsEver) {
  const test::CapturedStderr errors;
  HttpClient client(server_->Port());
  EXPECT_EQ(client.Ask(Get("/dropped")).status, 500);
  EXPECT_NE(errors.Text().find("dropped without a response"), std::string::npos);
  client.Reset();
  ASSERT_TRUE(AllHaveLeft());
  EXPECT_EQ(gone_, 0);
}

TEST_F(ResponderGoneTest, AStreamThatIsCutIsNotComplete) {
  HttpClient client(server_->Port());
  ASSERT_TRUE(client.Send(Get("/watched")));
  std::optional<ReplyStream> stream = Take().Stream(TextOf("a part"));
  stream.reset();
  EXPECT_FALSE(client.ReadReply().complete);
  ASSERT_TRUE(AllHaveLeft());
  EXPECT_EQ(gone_, 1);
}

TEST_F(ResponderGoneTest, AStreamThatIsWholeIsComplete) {
  HttpClient client(server_->Port());
  ASSERT_TRUE(client.Send(Get("/watched")));
  const ReplyStream stream = Take().Stream(TextOf("all of it"));
  stream.End();
  EXPECT_EQ(client.ReadReply().body, "all of it");
  client.Reset();
  ASSERT_TRUE(AllHaveLeft());
  EXPECT_EQ(gone_, 0);
}

TEST_F(ResponderGoneTest, IsCalledIfABodyWasRefused) {
  HttpClient client(server_->Port());
  const std::string post = "POST /pieces HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(client.Ask(post + "no chunk\r\n").status, 400);
  ASSERT_TRUE(server_->Await([&] { return gone_ == 1; }));
}

TEST_F(ResponderGoneTest, WhatIsThrownIsLoggedAndStopsNobody) {
  const test::CapturedStderr errors;
  HttpClient client(server_->Port());
  ASSERT_TRUE(client.Send(Get("/")));
  const Responder responder = Take();
  responder.OnGone([] { throw std::runtime_error("as it was told"); });
  responder.OnGone(nullptr);
  responder.OnGone(Count());
  client.Reset();
  ASSERT_TRUE(AllHaveLeft());
  EXPECT_EQ(gone_, 1);
  HttpClient neighbour(server_->Port());
  ASSERT_TRUE(neighbour.Send(Get("/")));
  const Responder late = Take();
  responder.OnGone([] { throw std::runtime_error("once more"); });
  late.Reply(TextOf("unharmed"));
  EXPECT_EQ(neighbour.ReadReply().body, "unharmed");
  EXPECT_NE(errors.Text().find("as it was told"), std::string::npos) << errors.Text();
  EXPECT_NE(errors.Text().find("once more"), std::string::npos) << errors.Text();
}

TEST_F(ResponderGoneTest, IsCalledAtOnceWhenTheServerHasEnded) {
  HttpClient client(server_->Port());
  ASSERT_TRUE(client.Send(Get("/")));
  const Responder responder = Take();
  client.Reset();
  ASSERT_TRUE(AllHaveLeft());
  server_.reset();
  responder.OnGone(Count());
  EXPECT_EQ(gone_, 1);
  EXPECT_EQ(called_on_, std::this_thread::get_id());
  EXPECT_FALSE(responder.Reply(TextOf("for nobody")));
  responder.OnGone(Count());
  EXPECT_EQ(gone_, 1);
}

// It has its own clock: a limit, and a server that waits for nobody.
TEST(ResponderGone, IsCalledWhenTheServerEndsOrTheLimitHasPassed) {
  std::vector<Responder> late;  // on the loop's thread
  std::atomic<int> gone{0};
  Routes routes;
  ErrorFormats errors;
  RouteOptions options;
  options.response_timeout = std::chrono::milliseconds(500);
  routes.Add(
      Method::kGet, "/",
      [&](const ServerRequest&, const Responder& responder) {
        responder.OnGone([&gone] { ++gone; });
        late.push_back(responder);
      },
      options);
  std::optional<HttpClient> client;
  {
    test::ClockedServer server([&](Looper&, LoopHttp& http) {
      http.SetRoutes(std::make_unique<RouteHandler>(routes, errors, MethodSet()));
    });
    client.emplace(server.Port());
    ASSERT_TRUE(client->Send(Get("/")));
    ASSERT_TRUE(server.Loop().Await([&] { return late.size() == 1; }));
    server.Advance(std::chrono::milliseconds(500));
    EXPECT_EQ(client->ReadReply().status, 503);
    EXPECT_EQ(gone, 1) << "the limit";
    server.Loop().Ask([&] { late.front().OnGone([&gone] { ++gone; }); });
    server.Loop().RunRounds(2);
    EXPECT_EQ(gone, 2) << "it has passed already";
    ASSERT_TRUE(client->Send(Get("/")));
    ASSERT_TRUE(server.Loop().Await([&] { return late.size() == 2; }));
    server.Loop().RunRounds(2);
    EXPECT_EQ(gone, 2);
  }
  EXPECT_EQ(gone, 3) << "the end";
}

// The seam that Responder::OnGone() uses.
TEST(ExchangeEnd, ItsStateIsReportedBeforeWhatIsAttachedGoes) {
  struct Alive : public ExchangeState {
    explicit Alive(bool& what) : alive(what) { alive = true; }
    Alive(const Alive&) = delete;
    auto operator=(const Alive&) -> Alive& = delete;
    ~Alive() override { alive = false; }
    bool& alive;
  };
  bool alive = false;
  std::vector<ReplyState> ends;  // these are the loop's
  Exchange* open = nullptr;
  RunningServer server([&](HttpServer& http) {
    http.Mount("/", test::Answering([&](Exchange& exchange) {
                 exchange.Attach(std::make_unique<Alive>(alive));
                 exchange.OnEnd([&](ReplyState reply) {
                   EXPECT_TRUE(alive);
                   ends.push_back(reply);
                   open = nullptr;
                   exchange.OnEnd([](ReplyState) { ADD_FAILURE() << "it has ended"; });
                 });
                 open = &exchange;
               }));
    http.Mount("/from", test::Answering([](Exchange& exchange) {
                 exchange.OnEnd([](ReplyState) { ADD_FAILURE() << "it has not ended"; });
                 exchange.ReplyFrom("/");
               }));
  });
  const auto end = [&](std::string_view target, const std::function<void(HttpClient&)>& how) {
    HttpClient client(server.Port());
    EXPECT_TRUE(client.Send(Get(target)));
    EXPECT_TRUE(server.Await([&] { return open != nullptr; }));
    how(client);
    EXPECT_TRUE(server.Await([&] { return open == nullptr; }));
    return server.Ask([&] { return std::exchange(ends, {}); });
  };
  EXPECT_EQ(end("/", [&](HttpClient&) { server.Ask([&] { open->Reply(Response(200)); }); }),
            std::vector{ReplyState::kComplete});
  EXPECT_EQ(end("/from", [&](HttpClient&) { server.Ask([&] { open->Reply(Response(200)); }); }),
            std::vector{ReplyState::kComplete});
  EXPECT_EQ(end("/", [](HttpClient& client) { client.Reset(); }), std::vector{ReplyState::kNone});
  EXPECT_EQ(end("/",
                [&](HttpClient& client) {
                  server.Ask([&] { open->BeginReply(Response(200), 10); });
                  EXPECT_EQ(client.ReadReply(test::Asked::kHead).status, 200);
                  client.Reset();
                }),
            std::vector{ReplyState::kBegun});
  EXPECT_EQ(end("/",
                [&](HttpClient&) {
                  server.Ask([&] {
                    Exchange& exchange = *open;
                    exchange.BeginReply(Response(200), 10);
                    exchange.Abort(500, {});
                  });
                }),
            std::vector{ReplyState::kCut});
}

}  // namespace
}  // namespace TURTLE_SERVER
