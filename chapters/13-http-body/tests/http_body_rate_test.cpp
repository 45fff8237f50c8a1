// Clients that send their bodies slowly, on a clock that only the test turns.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "support/clocked_server.h"
#include "support/http_client.h"
#include "support/running_server.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::seconds;
using test::ClockedServer;
using test::HttpClient;
using test::HttpReply;

// A server that counts the bytes of a body, or doesn't want it.
class Counting : public ClockedServer {
 public:
  // If `last_exchange` is given, it is set to the last exchange that is counted.
  explicit Counting(std::size_t& received, Exchange** last_exchange = nullptr)
      : ClockedServer([&received, last_exchange](Looper& looper, LoopHttp& http) {
          http.Mount("/", test::Answering([&received, last_exchange](Exchange& exchange) {
                       if (last_exchange != nullptr) {
                         *last_exchange = &exchange;
                       }
                       exchange.OnBody([&](std::string_view piece, bool last) {
                         received += piece.size();
                         if (last) {
                           exchange.Reply(TextResponse(200, std::to_string(received)));
                         }
                       });
                     })(looper));
          http.Mount("/ignored", test::Answering([](Exchange& exchange) {
                       exchange.Reply(TextResponse(200, "ignored"));
                     })(looper));
        }) {}

  // True if there is a connection that has not been told to close.
  auto IsWaiting() -> bool {
    bool waiting = false;
    Loop().Ask([&] { Loop().Get().ForEachConnection([&](Connection*) { waiting = true; }); });
    return waiting;
  }

  // Sends a piece, and waits until it has arrived.
  void Send(HttpClient& client, std::string_view piece, const std::size_t& received) {
    const std::size_t before = Loop().Ask([&] { return received; });
    ASSERT_TRUE(client.Send(piece));
    ASSERT_TRUE(Loop().Await([&] { return received == before + piece.size(); }));
  }
};

auto Head(std::string_view target, std::size_t length) -> std::string {
  return "POST " + std::string(target) +
         " HTTP/1.1\r\nHost: t\r\nContent-Length: " + std::to_string(length) + "\r\n\r\n";
}

// Each byte used to move the deadline.
TEST(HttpBodyRate, AByteInTimeIsNotEnough) {
  std::size_t received = 0;
  Counting server(received);
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(Head("/", 1000)));
  ASSERT_TRUE(server.Loop().Await([&] { return server.Loop().Get().ConnectionCount() == 1; }));
  for (int i = 0; i < 6 && server.IsWaiting(); ++i) {
    server.Send(client, "x", received);
    server.Advance(HttpOptions().body_timeout - seconds(2));
    server.Advance(seconds(1));  // a byte is worth less than that
  }
  const HttpReply reply = client.ReadReply();
  EXPECT_EQ(reply.status, 408);
  EXPECT_EQ(reply.Field("Connection"), "close");
  EXPECT_TRUE(client.IsClosedByServer());
}

TEST(HttpBodyRate, WhoKeepsTheRateMayTakeAsLongAsItTakes) {
  constexpr std::size_t kPieces = 10;
  std::size_t received = 0;
  Counting server(received);
  HttpClient client(server.Port());
  const std::string piece(HttpOptions().min_body_rate * 25, 'x');
  ASSERT_TRUE(client.Send(Head("/", kPieces * piece.size())));
  for (std::size_t i = 0; i < kPieces - 1; ++i) {
    server.Send(client, piece, received);
    server.Advance(seconds(25));
  }
  EXPECT_EQ(client.Ask(piece).body, std::to_string(kPieces * piece.size()));
}

// A timer, say, or another exchange may find that the handler can't take more.
TEST(HttpBodyRate, TimeInWhichABodyIsHeldDoesNotCountWhoeverHoldsIt) {
  std::size_t received = 0;
  Exchange* exchange = nullptr;
  Counting server(received, &exchange);
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(Head("/", 10)));
  server.Send(client, "hello", received);
  server.Loop().Ask([&] { exchange->HoldBody(true); });  // outside the session's turn
  for (int i = 0; i < 5 && server.IsWaiting(); ++i) {
    server.Advance(HttpOptions().body_timeout + seconds(1));
  }
  ASSERT_TRUE(server.IsWaiting()) << "the held body was refused: " << client.ReadReply().status;
  server.Loop().Ask([&] { exchange->HoldBody(false); });
  server.Advance(HttpOptions().body_timeout - seconds(1));  // the client has all of it again
  EXPECT_EQ(client.Ask("world").body, "10");
}

TEST(HttpBodyRate, ABodyThatIsOnlyToBeDroppedIsNotWaitedForEither) {
  std::size_t received = 0;
  Counting server(received);
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Head("/ignored", 1000)).body, "ignored");
  for (int i = 0; i < 6; ++i) {
    client.Send("x");
    server.Advance(HttpOptions().body_timeout - seconds(2));
    server.Advance(seconds(1));  // a byte is worth less than that
  }
  EXPECT_TRUE(client.IsClosedByServer());
}

// A request that arrived with an ignored body is still answered when the server stops.
TEST(HttpBodyRate, ARequestThatWasReadBehindABodyIsAnsweredThoughTheServerStops) {
  test::Waiting waiting;
  test::RunningServer server([&](Exchange& exchange) {
    if (exchange.GetRequest().uri.Path() == "/late") {
      waiting.Keep(exchange);
    } else {
      exchange.Reply(TextResponse(200, exchange.GetRequest().uri.Path()));
    }
  });
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(test::Get("/late") + Head("/ignored", 5) + "hello" + test::Get("/last")));
  ASSERT_TRUE(server.Await([&] { return waiting.Count() == 1; }));
  server.Get().Stop();
  ASSERT_TRUE(server.Await([&] { return server.GetLooper().Stopping(); }));
  server.Ask([&] { waiting.Last()->Reply(TextResponse(200, "late")); });
  EXPECT_EQ(client.ReadReply().body, "late");
  EXPECT_EQ(client.ReadReply().body, "/ignored");
  const HttpReply reply = client.ReadReply();
  EXPECT_EQ(reply.body, "/last");
  EXPECT_EQ(reply.Field("Connection"), "close");
  EXPECT_TRUE(client.IsClosedByServer());
  server.Join();
}

}  // namespace
}  // namespace TURTLE_SERVER
