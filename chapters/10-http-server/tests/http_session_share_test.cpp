// A client that sends many requests at once, and its neighbours.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "support/clocked_server.h"
#include "support/http_client.h"
#include "support/running_server.h"

namespace TURTLE_SERVER {
namespace {

using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::RunningServer;

constexpr int kShare = HttpSession::kMaxRequestsPerCall;

// Returns requests for /who/0, /who/1 and so on.
auto Burst(const std::string& who, int count) -> std::string {
  std::string requests;
  for (int i = 0; i < count; ++i) {
    requests += Get("/" + who + "/" + std::to_string(i));
  }
  return requests;
}

void ReplyWithPath(Exchange& exchange) {
  exchange.Reply(TextResponse(200, exchange.GetRequest().uri.Path()));
}

void ExpectReplies(HttpClient& client, const std::string& who, int count) {
  for (int i = 0; i < count; ++i) {
    const HttpReply reply = client.ReadReply();
    ASSERT_EQ(reply.status, 200) << "reply " << i;
    ASSERT_EQ(reply.body, "/" + who + "/" + std::to_string(i));
  }
}

// All of it used to be served before any other client's first request.
TEST(HttpSessionShare, ABurstIsServedByTurnsWithItsNeighbours) {
  constexpr int kBurst = 10 * kShare;
  std::vector<char> order;  // the loop's
  RunningServer server([&](Exchange& exchange) {
    order.push_back(exchange.GetRequest().uri.Path().at(1));
    ReplyWithPath(exchange);
  });
  HttpClient first(server.Port());
  HttpClient second(server.Port());
  ASSERT_TRUE(server.Await([&] { return server.GetLooper().ConnectionCount() == 2; }));
  server.Settle();
  server.Ask([&] {  // both are there when the loop looks
    EXPECT_TRUE(first.Send(Burst("a", kBurst)));
    EXPECT_TRUE(second.Send(Burst("b", kBurst)));
  });
  ExpectReplies(first, "a", kBurst);
  ExpectReplies(second, "b", kBurst);
  server.Ask([&] {
    ASSERT_EQ(order.size(), 2U * kBurst);
    int run = 0;
    int longest = 0;  // while both have requests to be served
    const auto both = std::min(std::find(order.rbegin(), order.rend(), 'a').base(),
                               std::find(order.rbegin(), order.rend(), 'b').base());
    for (auto at = order.begin(); at != both; ++at) {
      run = at != order.begin() && *at == at[-1] ? run + 1 : 1;
      longest = std::max(longest, run);
    }
    EXPECT_EQ(longest, kShare);
  });
}

TEST(HttpSessionShare, NothingIsLostAtItsEdges) {
  for (const int count : {kShare - 1, kShare, kShare + 1, 2 * kShare, 2 * kShare + 1}) {
    for (const bool finishes : {false, true}) {
      RunningServer server(ReplyWithPath);
      HttpClient client(server.Port());
      ASSERT_TRUE(client.Send(Burst("a", count)));
      if (finishes) {
        client.FinishSending();
      }
      ExpectReplies(client, "a", count);
      if (finishes) {
        EXPECT_TRUE(client.IsClosedByServer());
      } else {
        EXPECT_EQ(client.Ask(Get("/on")).body, "/on");
      }
    }
  }
}

TEST(HttpSessionShare, APartOfAHeadBehindItWaitsForItsRest) {
  for (const int count : {kShare - 1, kShare, kShare + 1}) {
    RunningServer server(ReplyWithPath);
    HttpClient client(server.Port());
    const std::string last = Get("/last");
    ASSERT_TRUE(client.Send(Burst("a", count) + last.substr(0, 10)));
    ExpectReplies(client, "a", count);
    EXPECT_EQ(client.Ask(last.substr(10)).body, "/last");
  }
}

TEST(HttpSessionShare, LateRepliesKeepTheirPlace) {
  test::Waiting waiting;
  RunningServer server([&](Exchange& exchange) {
    exchange.GetRequest().uri.Path() == "/late" ? waiting.Keep(exchange) : ReplyWithPath(exchange);
  });
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(Burst("a", kShare + 1) + Get("/late") + Burst("b", 2 * kShare + 1)));
  ExpectReplies(client, "a", kShare + 1);
  ASSERT_TRUE(server.Await([&] { return waiting.Count() == 1; }));
  server.Ask([&] { ReplyWithPath(*waiting.Last()); });
  EXPECT_EQ(client.ReadReply().body, "/late");
  ExpectReplies(client, "b", 2 * kShare + 1);
}

// Requests that were read before the stop are answered, however many there are.
TEST(HttpSessionShare, AServerThatStopsServesTheRestOfTheRow) {
  constexpr int kBurst = 5 * kShare;
  int served = 0;
  RunningServer* running = nullptr;
  RunningServer server([&](Exchange& exchange) {
    if (++served == 1) {
      running->Get().Stop();
    }
    ReplyWithPath(exchange);
  });
  running = &server;
  HttpClient client(server.Port());
  server.Ask([&] { EXPECT_TRUE(client.Send(Burst("a", kBurst))); });
  ExpectReplies(client, "a", kBurst);
  EXPECT_TRUE(client.IsClosedByServer());
  server.Join();
}

// A client that waits for its turn can't be late.
TEST(HttpSessionShare, ARequestThatWaitsForItsTurnIsNotTakenForHalfAHead) {
  const HttpOptions options;
  int served = 0;
  test::ClockedServer* clocked = nullptr;
  test::ClockedServer server(
      [&](Looper& looper, LoopHttp& http) {
        http.Mount("/", test::Answering([&](Exchange& exchange) {
                     if (++served == kShare) {  // the next time that the loop looks, it is later
                       clocked->Turn(options.head_timeout + options.idle_timeout);
                     }
                     ReplyWithPath(exchange);
                   })(looper));
      },
      options);
  clocked = &server;
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(Burst("a", 2 * kShare + 1)));
  ExpectReplies(client, "a", 2 * kShare + 1);
}

// When the whole share is served and nothing is left, the client is idle like any other.
TEST(HttpSessionShare, WhoHasSentNoMoreThanItsShareIsIdleAfterIt) {
  const HttpOptions options;
  test::ClockedServer server([&](Looper& looper, LoopHttp& http) {
    http.Mount("/", test::Answering(ReplyWithPath)(looper));
  });
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(Burst("a", kShare)));
  ExpectReplies(client, "a", kShare);
  server.Advance(options.idle_timeout);
  server.Advance(options.idle_timeout);
  EXPECT_TRUE(client.IsClosedByServer());
}

}  // namespace
}  // namespace TURTLE_SERVER
