// Line ends after a request, which old clients send, are ignored: they are neither the beginning of
// a head that never ends nor a part of the next one (RFC 9112, section 2.2).
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "support/clocked_server.h"
#include "support/http_client.h"
#include "support/running_server.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::milliseconds;
using test::ClockedServer;
using test::Get;
using test::HttpClient;
using test::RunningServer;

constexpr milliseconds kHeadTimeout{30};

void ReplyWithPath(Exchange& exchange) {
  exchange.Reply(TextResponse(200, exchange.GetRequest().uri.Path()));
}

auto ShortHeads() -> HttpOptions {
  HttpOptions options;
  options.head_timeout = kHeadTimeout;
  return options;
}

// Short deadlines on a clock that only the test turns.
class ClockedHeads : public ClockedServer {
 public:
  ClockedHeads()
      : ClockedServer(
            [](Looper& looper, LoopHttp& http) {
              http.Mount("/", test::Answering(ReplyWithPath)(looper));
            },
            ShortHeads()) {}

  // Lets everything happen that the head timeout may cause.
  void PassHeadTimeout() { Advance(2 * kHeadTimeout); }
};

TEST(HttpSessionStrayLineEnds, TheConnectionBehindThemIsIdleAndNotAHeadThatNeverEnds) {
  for (const char* stray : {"\r\n", "\r\n\r\n\r\n"}) {
    ClockedHeads server;
    HttpClient client(server.Port());
    EXPECT_EQ(client.Ask(Get("/first") + stray).body, "/first");
    server.PassHeadTimeout();
    EXPECT_FALSE(client.HasInput(milliseconds(0))) << client.ReadReply().head;
    EXPECT_EQ(client.Ask(Get("/second")).body, "/second");
  }
}

TEST(HttpSessionStrayLineEnds, TheyMayComeLaterAndInPieces) {
  ClockedHeads server;
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Get("/first")).body, "/first");
  for (const char* piece : {"\r", "\n\r", "\n"}) {
    server.Loop().Ask([&] {  // which stands still until it is there: else they might come as one
      EXPECT_TRUE(client.Send(piece));
      server.Loop().Get().ForEachConnection(
          [](Connection* connection) { EXPECT_TRUE(test::AwaitBytes(connection->GetFd(), 1)); });
    });
    server.Advance(milliseconds(0));
  }
  server.PassHeadTimeout();
  EXPECT_FALSE(client.HasInput(milliseconds(0))) << client.ReadReply().head;
  EXPECT_EQ(client.Ask(Get("/second")).body, "/second");
}

TEST(HttpSessionStrayLineEnds, AHeadThatBeginsBehindThemStillHasToEnd) {
  RunningServer server(ReplyWithPath, ShortHeads());
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Get("/first") + "\r\nGET /never").body, "/first");
  EXPECT_EQ(client.ReadReply().status, 408);
  EXPECT_TRUE(client.IsClosedByServer());
}

TEST(HttpSessionStrayLineEnds, AnEndlessRunOfThemIsCutOff) {
  RunningServer server(ReplyWithPath);
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Get("/first") + "\r\n\r\n").body, "/first");
  std::string run;
  for (int i = 0; i < 100; ++i) {
    run += "\r\n";
  }
  EXPECT_EQ(client.Ask(run + Get("/second")).status, 400);
  EXPECT_TRUE(client.IsClosedByServer());
}

TEST(HttpSessionStrayLineEnds, ARequestBetweenThemEndsTheRun) {
  RunningServer server(ReplyWithPath);
  HttpClient client(server.Port());
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(client.Ask("\r\n\r\n" + Get("/again")).body, "/again");
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
