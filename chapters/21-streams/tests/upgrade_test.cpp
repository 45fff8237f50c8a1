// A connection that switches to another protocol, and how an exchange probes its client.
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "support/captured_stderr.h"
#include "support/clocked_server.h"
#include "support/frame_client.h"
#include "support/frame_session.h"
#include "support/http_client.h"
#include "support/running_server.h"

namespace TURTLE_SERVER {
namespace {

using test::FrameClient;
using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::Waiting;

constexpr const char* kSwitched =
    "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: frames\r\n"
    "X-Note: welcome\r\n\r\n";

auto Wish(std::string_view protocols, std::string_view connection = "upgrade") -> std::string {
  std::string fields = "Connection: ";
  fields.append(connection).append("\r\nUpgrade: ").append(protocols).append("\r\n");
  return Get("/frames", fields);
}

class UpgradeTest : public testing::Test {
 protected:
  auto Maker() -> SessionMaker {
    return [this](Connection& connection) {
      return std::make_unique<test::FrameSession>(connection, *http_);
    };
  }

  void Serve(Exchange& exchange) {
    const std::string path(exchange.GetRequest().uri.Path());
    if (path == "/late") {
      waiting_.Keep(exchange);
    } else if (path == "/frames" && exchange.CanUpgrade("frames")) {
      exchange.Upgrade("frames", std::move(Response(101).Set("X-Note", "welcome")), Maker());
    } else if (path == "/frames") {
      exchange.Reply(std::move(Response(426).Set("Upgrade", "frames")));
    } else if (path == "/wrong") {
      exchange.Upgrade("frames", Response(101), Maker());
    } else if (path == "/empty" && exchange.CanUpgrade("frames")) {
      exchange.Upgrade("frames", Response(101), {});
    } else if (path == "/nothing" && exchange.CanUpgrade("frames")) {
      exchange.Upgrade("frames", Response(101), [](Connection&) { return nullptr; });
    } else {
      exchange.Reply(TextResponse(200, path));
    }
  }

  LoopHttp* http_ = nullptr;
  Waiting waiting_;
  test::ClockedServer server_{[this](Looper& looper, LoopHttp& http) {
    http_ = &http;
    http.Mount("/", test::Answering([this](Exchange& exchange) { Serve(exchange); })(looper));
  }};
};

TEST_F(UpgradeTest, TheNextSessionHasWhatTheClientSentAfterItsRequest) {
  FrameClient client(server_.Port());
  ASSERT_TRUE(client.SendRaw(Get("/before") + Wish("other/2, Frames", "keep-alive, Upgrade") +
                             test::Frame::Pack(7, true, "GET /inside\r\n\r\n")));
  const std::string before = client.Receive(1);
  std::string head = before;
  while (head.find("/before") == std::string::npos && head.size() < 1000) {
    head += client.Receive(1);
  }
  EXPECT_EQ(client.Receive(std::string(kSwitched).size()), kSwitched);
  EXPECT_EQ(client.Await(7).body, "/inside");
  EXPECT_EQ(client.Ask("GET /again\r\n\r\n").body, "/again");
}

TEST_F(UpgradeTest, TheWishMayBeInSeveralFieldLines) {
  HttpClient client(server_.Port());
  EXPECT_EQ(client
                .Ask(Get("/frames",
                         "Connection: keep-alive\r\nConnection: Upgrade\r\n"
                         "Upgrade: other\r\nUpgrade: frames\r\n"))
                .status,
            101);
}

TEST_F(UpgradeTest, OnlyWhatTheClientAsksForAndOnlyByHttp11) {
  HttpClient client(server_.Port());
  EXPECT_EQ(client.Ask(Get("/frames")).status, 426);
  EXPECT_EQ(client.Ask(Wish("framesets")).status, 426);
  EXPECT_EQ(client.Ask(Wish("frames", "keep-alive")).status, 426);
  EXPECT_EQ(client
                .Ask("GET /frames HTTP/1.0\r\nConnection: upgrade, keep-alive\r\n"
                     "Upgrade: frames\r\n\r\n")
                .status,
            426);
  EXPECT_EQ(client
                .Ask("POST /frames HTTP/1.1\r\nHost: t\r\nConnection: upgrade\r\n"
                     "Upgrade: frames\r\nContent-Length: 1\r\n\r\nx")
                .status,
            426);
}

TEST_F(UpgradeTest, AnUpgradeThatCannotBeIsAnErrorOfTheHandler) {
  const test::CapturedStderr errors;
  HttpClient client(server_.Port());
  EXPECT_EQ(client.Ask(Get("/wrong")).status, 500);
  EXPECT_EQ(client.Ask(Get("/empty", "Connection: upgrade\r\nUpgrade: frames\r\n")).status, 500);
  EXPECT_NE(errors.Text().find("upgrade to frames: the client can't have it"), std::string::npos);
}

TEST_F(UpgradeTest, WithoutASessionTheConnectionEnds) {
  const test::CapturedStderr errors;
  HttpClient client(server_.Port());
  EXPECT_EQ(client.Ask(Get("/nothing", "Connection: upgrade\r\nUpgrade: frames\r\n")).status, 101);
  EXPECT_EQ(client.ReadRest(), "");
  EXPECT_NE(errors.Text().find("upgrade: no session was made"), std::string::npos);
}

TEST_F(UpgradeTest, AHandlerMayUpgradeLate) {
  FrameClient client(server_.Port());
  ASSERT_TRUE(client.SendRaw(Get("/late", "Connection: upgrade\r\nUpgrade: frames\r\n")));
  ASSERT_TRUE(server_.Loop().Await([&] { return waiting_.Count() == 1; }));
  server_.Loop().Ask([&] {
    waiting_.Last()->Upgrade("frames", std::move(Response(101).Set("X-Note", "welcome")), Maker());
  });
  EXPECT_EQ(client.Receive(std::string(kSwitched).size()), kSwitched);
  EXPECT_EQ(client.Ask("GET /inside\r\n\r\n").body, "/inside");
}

TEST(Upgrade, AServerThatIsAboutToStopChangesNothing) {
  Waiting waiting;
  test::RunningServer server([&](Exchange& exchange) { waiting.Keep(exchange); });
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(Get("/late", "Connection: upgrade\r\nUpgrade: frames\r\n")));
  ASSERT_TRUE(server.Await([&] { return waiting.Count() == 1; }));
  EXPECT_TRUE(server.Ask([&] { return waiting.Last()->CanUpgrade("frames"); }));
  server.Get().Stop();
  ASSERT_TRUE(server.Await([&] { return server.GetLooper().Stopping(); }));
  server.Ask([&] {
    EXPECT_FALSE(waiting.Last()->CanUpgrade("frames"));
    waiting.Last()->Reply(Response(503));
  });
  EXPECT_EQ(client.ReadReply().status, 503);
  server.Join();
}

TEST_F(UpgradeTest, AProbeIsAnInterimResponse) {
  HttpClient client(server_.Port());
  ASSERT_TRUE(client.Send(Get("/late")));
  ASSERT_TRUE(server_.Loop().Await([&] { return waiting_.Count() == 1; }));
  server_.Loop().Ask([&] { EXPECT_TRUE(waiting_.Last()->Probe()); });
  EXPECT_EQ(client.ReadReply().status, 100);
  server_.Loop().Ask([&] { waiting_.Last()->Reply(TextResponse(200, "at last")); });
  EXPECT_EQ(client.ReadReply().body, "at last");
}

TEST_F(UpgradeTest, AProbeIsNothingForHttp10OrAClientThatWaitsForLeave) {
  for (const char* request :
       {"GET /late HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
        "POST /late HTTP/1.1\r\nHost: t\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n"}) {
    HttpClient client(server_.Port());
    ASSERT_TRUE(client.Send(request));
    ASSERT_TRUE(server_.Loop().Await([&] { return waiting_.Count() == 1; }));
    server_.Loop().Ask([&] {
      EXPECT_FALSE(waiting_.Last()->Probe());
      waiting_.Last()->Reply(TextResponse(200, "at last"));
    });
    EXPECT_EQ(client.ReadReply().body, "at last");
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
