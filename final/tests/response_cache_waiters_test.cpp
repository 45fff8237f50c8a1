// Requests that wait for the response that another one has begun, and what may happen before it.
#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/cached_server.h"
#include "support/captured_stderr.h"

namespace TURTLE_SERVER {
namespace {

using namespace std::chrono_literals;
using test::CachedServer;
using test::Get;
using test::HttpClient;
using test::Waiting;

// The handler keeps every exchange open until the test responds.
class ResponseCacheWaitersTest : public testing::Test {
 protected:
  // Returns clients that have requested "/": the handler has the first request, the others wait.
  auto Ask(std::size_t count) -> std::vector<HttpClient> {
    std::vector<HttpClient> clients;
    for (std::size_t i = 0; i < count; ++i) {
      clients.emplace_back(server_.Port());
      clients.back().Send(Get("/"));
      if (!AwaitHandler(1) || !server_.AwaitWaiting(i)) {
        throw std::runtime_error("client " + std::to_string(i) + " does not wait");
      }
    }
    return clients;
  }

  auto AwaitHandler(std::size_t count) -> bool {
    return server_.Server().Loop().Await([&] { return waiting_.Count() == count; });
  }

  void Answer(const Response& response) {
    server_.Server().Loop().Ask([&] { waiting_.Last()->Reply(response); });
  }

  Waiting waiting_;
  CachedServer server_{[this](Exchange& exchange) { waiting_.Keep(exchange); }};
};

TEST_F(ResponseCacheWaitersTest, AllGetTheOneReply) {
  std::vector<HttpClient> clients = Ask(20);
  Answer(TextResponse(200, "one for all"));
  for (HttpClient& client : clients) {
    EXPECT_EQ(client.ReadReply().body, "one for all");
  }
  EXPECT_EQ(server_.Calls(), 1);
  EXPECT_TRUE(server_.AwaitWaiting(0));
}

TEST_F(ResponseCacheWaitersTest, AReplyInPiecesComesToAllAtItsEnd) {
  std::vector<HttpClient> clients = Ask(3);
  server_.Server().Loop().Ask([&] {
    waiting_.Last()->BeginReply(Response(200));
    waiting_.Last()->Write("one ");
  });
  EXPECT_TRUE(server_.AwaitWaiting(2));
  server_.Server().Loop().Ask([&] {
    waiting_.Last()->Write("for all");
    waiting_.Last()->End();
  });
  for (HttpClient& client : clients) {
    EXPECT_EQ(client.ReadReply().body, "one for all");
  }
  EXPECT_EQ(server_.Calls(), 1);
}

TEST_F(ResponseCacheWaitersTest, WhoLeavesIsForgotten) {
  std::vector<HttpClient> clients = Ask(4);
  clients[2].Reset();
  EXPECT_TRUE(server_.AwaitWaiting(2));
  Answer(TextResponse(200, "one for all"));
  EXPECT_EQ(clients[1].ReadReply().body, "one for all");
  EXPECT_EQ(clients[3].ReadReply().body, "one for all");
}

TEST_F(ResponseCacheWaitersTest, WhenTheFirstLeavesAnotherTakesItsPlace) {
  std::vector<HttpClient> clients = Ask(4);
  clients[0].Reset();
  EXPECT_TRUE(server_.AwaitWaiting(2));
  EXPECT_TRUE(AwaitHandler(1));
  EXPECT_EQ(server_.Calls(), 2) << "not one for each";
  Answer(TextResponse(200, "the second one"));
  for (std::size_t i = 1; i < clients.size(); ++i) {
    EXPECT_EQ(clients[i].ReadReply().body, "the second one");
  }
}

TEST_F(ResponseCacheWaitersTest, WhenTheFirstLeavesInMidReplyToo) {
  std::vector<HttpClient> clients = Ask(3);
  server_.Server().Loop().Ask([&] {
    waiting_.Last()->BeginReply(Response(200), 100);
    waiting_.Last()->Write("half");
  });
  clients[0].Reset();
  EXPECT_TRUE(server_.AwaitWaiting(1));
  EXPECT_TRUE(AwaitHandler(1));
  Answer(TextResponse(200, "whole"));
  EXPECT_EQ(clients[1].ReadReply().body, "whole");
  EXPECT_EQ(clients[2].ReadReply().body, "whole");
}

TEST_F(ResponseCacheWaitersTest, NobodyWaitsForMoreThanTwo) {
  std::vector<HttpClient> clients = Ask(6);
  clients[0].Reset();
  EXPECT_TRUE(server_.AwaitWaiting(4));
  EXPECT_TRUE(AwaitHandler(1));
  clients[1].Reset();
  EXPECT_TRUE(AwaitHandler(4)) << "each of those who are left";
  EXPECT_TRUE(server_.AwaitWaiting(0));
}

TEST_F(ResponseCacheWaitersTest, AReplyThatIsNotToBeKeptHasEachAskForItself) {
  std::vector<HttpClient> clients = Ask(4);
  server_.Server().Loop().Ask(
      [&] { waiting_.Last()->BeginReply(Response(200).Set("Cache-Control", "no-store")); });
  EXPECT_TRUE(AwaitHandler(4)) << "as soon as it says so, and all at once";
  clients.emplace_back(server_.Port());
  clients.back().Send(Get("/"));
  EXPECT_TRUE(AwaitHandler(5)) << "for some time, nobody waits";
  EXPECT_TRUE(server_.AwaitWaiting(0));
  server_.Server().Advance(CachingHandler::kNeverTime);
  for (int i = 0; i < 2; ++i) {
    clients.emplace_back(server_.Port());
    clients.back().Send(Get("/"));
    EXPECT_TRUE(AwaitHandler(6));
  }
  EXPECT_TRUE(server_.AwaitWaiting(1)) << "then it is tried again";
}

TEST_F(ResponseCacheWaitersTest, AReplyThatIsNeverKeptIsNotedAnewInTime) {
  std::vector<HttpClient> clients = Ask(1);
  for (int i = 0; i < 4; ++i) {
    Answer(TextResponse(200, "mine").Set("Cache-Control", "no-store"));
    EXPECT_TRUE(AwaitHandler(0));
    server_.Server().Advance(CachingHandler::kNeverTime * 3 / 4);
    clients.emplace_back(server_.Port());
    clients.back().Send(Get("/"));
    EXPECT_TRUE(AwaitHandler(1));
  }
  clients.emplace_back(server_.Port());
  clients.back().Send(Get("/"));
  EXPECT_TRUE(AwaitHandler(2)) << "and does not wait";
}

TEST_F(ResponseCacheWaitersTest, ATooLongReplyHasEachAskForItself) {
  std::vector<HttpClient> clients = Ask(3);
  Answer(TextResponse(200, std::string(300'000, 'x')));
  EXPECT_TRUE(AwaitHandler(2));
  EXPECT_EQ(clients[0].ReadReply().body.size(), 300'000U);
}

TEST_F(ResponseCacheWaitersTest, AfterAnErrorOneTriesAgain) {
  std::vector<HttpClient> clients = Ask(4);
  Answer(ErrorResponse(503));
  EXPECT_EQ(clients[0].ReadReply().status, 503);
  EXPECT_TRUE(AwaitHandler(1));
  EXPECT_TRUE(server_.AwaitWaiting(2)) << "a server in trouble is not asked by all at once";
  Answer(TextResponse(200, "fine"));
  for (std::size_t i = 1; i < clients.size(); ++i) {
    EXPECT_EQ(clients[i].ReadReply().body, "fine");
  }
}

TEST_F(ResponseCacheWaitersTest, AReplyThatVariesIsForThoseWhoAreAlike) {
  std::vector<HttpClient> clients = Ask(2);
  for (int i = 0; i < 2; ++i) {
    clients.emplace_back(server_.Port());
    clients.back().Send(Get("/", "X-A: other\r\n"));
    EXPECT_TRUE(server_.AwaitWaiting(2U + static_cast<std::size_t>(i)));
  }
  Answer(TextResponse(200, "none").Set("Vary", "X-A"));
  EXPECT_EQ(clients[1].ReadReply().body, "none");
  EXPECT_TRUE(server_.AwaitWaiting(1));
  Answer(TextResponse(200, "other").Set("Vary", "X-A"));
  EXPECT_EQ(clients[2].ReadReply().body, "other");
  EXPECT_EQ(clients[3].ReadReply().body, "other");
  EXPECT_EQ(server_.Calls(), 2);
}

// When no more may be written to the client whose response it is, nobody waits for it.
TEST_F(ResponseCacheWaitersTest, AClientThatDoesNotReadHoldsUpNobody) {
  HttpClient slow(server_.Port());
  const int small = 4096;
  ::setsockopt(slow.GetFd(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
  slow.Send(Get("/"));
  ASSERT_TRUE(AwaitHandler(1));
  HttpClient other(server_.Port());
  other.Send(Get("/"));
  ASSERT_TRUE(server_.AwaitWaiting(1));
  server_.Server().Loop().Ask([&] {
    Exchange& exchange = *waiting_.Last();
    exchange.BeginReply(Response(200));
    for (int i = 0; i < 200'000 && exchange.CanWrite(); ++i) {
      exchange.Write("x");  // in chunks: there is more to be sent than there is body
    }
    EXPECT_FALSE(exchange.CanWrite());
  });
  ASSERT_TRUE(AwaitHandler(2));
  Answer(TextResponse(200, "mine"));
  EXPECT_EQ(other.ReadReply().body, "mine");
}

TEST(ResponseCacheThrowTest, WhoWaitedGetsTheErrorOfItsOwnTry) {
  test::CapturedStderr quiet;
  Waiting waiting;
  CachedServer server([&waiting, number = 0](Exchange& exchange) mutable {
    if (++number > 1) {
      throw std::runtime_error("fails");
    }
    waiting.Keep(exchange);
  });
  HttpClient first(server.Port());
  first.Send(Get("/"));
  ASSERT_TRUE(server.Server().Loop().Await([&] { return waiting.Count() == 1; }));
  HttpClient second(server.Port());
  second.Send(Get("/"));
  ASSERT_TRUE(server.AwaitWaiting(1));
  first.Reset();
  EXPECT_EQ(second.ReadReply().status, 500);
  EXPECT_EQ(second.Ask(Get("/")).status, 500) << "the connection lives";
}

TEST(ResponseCacheStopTest, WhoWaitsIsAnsweredBeforeTheServerEnds) {
  Waiting waiting;
  test::RunningServer server([&waiting](HttpServer& made) {
    made.Mount("/", Cached({}, test::Answering([&](Exchange& each) { waiting.Keep(each); })));
  });
  HttpClient first(server.Port());
  HttpClient second(server.Port());
  first.Send(Get("/"));
  ASSERT_TRUE(server.Await([&] { return waiting.Count() == 1; }));
  second.Send(Get("/"));
  server.Settle();
  server.Get().Stop();
  server.Ask([&] { waiting.Last()->Reply(TextResponse(200, "the last one")); });
  EXPECT_EQ(first.ReadReply().body, "the last one");
  EXPECT_EQ(second.ReadReply().body, "the last one");
  server.Join();
}

TEST(ResponseCacheStopTest, WhoStillWaitsWhenTheTimeIsUpIsCutOff) {
  Waiting waiting;
  CachedServer server([&waiting](Exchange& exchange) { waiting.Keep(exchange); });
  std::vector<HttpClient> clients;
  for (int i = 0; i < 3; ++i) {
    clients.emplace_back(server.Port());
    clients.back().Send(Get("/"));
  }
  ASSERT_TRUE(server.AwaitWaiting(2));
}  // the server ends before the clients

}  // namespace
}  // namespace TURTLE_SERVER
