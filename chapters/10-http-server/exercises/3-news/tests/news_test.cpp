#include "web/news.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/clocked_server.h"
#include "support/http_client.h"
#include "support/running_server.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::seconds;
using test::Get;
using test::HttpClient;
using test::HttpReply;

constexpr seconds kWait{30};

auto After(std::size_t number) -> std::string { return Get("/?after=" + std::to_string(number)); }

// One loop, whose clock only the test turns.
class NewsTest : public testing::Test {
 protected:
  NewsTest()
      : server_([this](Looper& looper, LoopHttp& http) {
          auto handler = std::make_unique<NewsHandler>(looper, news_, kWait);
          handler_ = handler.get();
          http.Mount("/", std::move(handler));
        }) {}

  // Until so many wait.
  [[nodiscard]] auto AwaitWaiting(std::size_t count) -> bool {
    return server_.Loop().Await([&] { return handler_->Waiting() == count; });
  }

  News news_;
  NewsHandler* handler_ = nullptr;
  test::ClockedServer server_;
};

TEST_F(NewsTest, WhatIsThereIsToldAtOnce) {
  news_.Publish("one");
  news_.Publish("two \xc3\xa4");
  HttpClient client(server_.Port());
  const HttpReply reply = client.Ask(After(0));
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.Field("Content-Type"), "text/plain; charset=utf-8");
  EXPECT_EQ(reply.body, "1 one\n2 two \xc3\xa4\n");
  EXPECT_EQ(client.Ask(After(1)).body, "2 two \xc3\xa4\n");
}

TEST_F(NewsTest, WhoKnowsAllWaitsForMore) {
  HttpClient client(server_.Port());
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(client.Send(After(i)));
    ASSERT_TRUE(AwaitWaiting(1));
    news_.Publish("more");
    EXPECT_EQ(client.ReadReply().body, std::to_string(i + 1) + " more\n");
    ASSERT_TRUE(AwaitWaiting(0));
  }
}

TEST_F(NewsTest, SeveralAtATimeAreOneReply) {
  HttpClient client(server_.Port());
  ASSERT_TRUE(client.Send(After(0)));
  ASSERT_TRUE(AwaitWaiting(1));
  server_.Loop().WhileItStandsStill([&] {
    news_.Publish("a");
    news_.Publish("b");
  });
  EXPECT_EQ(client.ReadReply().body, "1 a\n2 b\n");
  ASSERT_TRUE(client.Send(After(2)));
  ASSERT_TRUE(AwaitWaiting(1));
  news_.Publish("c");
  EXPECT_EQ(client.ReadReply().body, "3 c\n");
}

TEST_F(NewsTest, WhoHasHeardItWaitsOnWhileOthersAreTold) {
  news_.Publish("a");
  HttpClient ahead(server_.Port());
  ASSERT_TRUE(ahead.Send(After(2)));  // it may have spoken to another server before
  ASSERT_TRUE(AwaitWaiting(1));
  news_.Publish("b");
  HttpClient client(server_.Port());
  EXPECT_EQ(client.Ask(After(0)).body, "1 a\n2 b\n");
  ASSERT_TRUE(AwaitWaiting(1));
  news_.Publish("c");
  EXPECT_EQ(ahead.ReadReply().body, "3 c\n");
}

TEST_F(NewsTest, RequestsOfOneClientAreAnsweredInOrder) {
  HttpClient client(server_.Port());
  ASSERT_TRUE(client.Send(After(0) + After(1)));
  ASSERT_TRUE(AwaitWaiting(1));
  news_.Publish("a");
  EXPECT_EQ(client.ReadReply().body, "1 a\n");
  ASSERT_TRUE(AwaitWaiting(1));
  news_.Publish("b");
  EXPECT_EQ(client.ReadReply().body, "2 b\n");
}

TEST_F(NewsTest, PatienceHasAnEnd) {
  HttpClient early(server_.Port());
  ASSERT_TRUE(early.Send(After(0)));
  ASSERT_TRUE(AwaitWaiting(1));
  server_.Advance(seconds(20));
  HttpClient late(server_.Port());
  ASSERT_TRUE(late.Send(After(0)));
  ASSERT_TRUE(AwaitWaiting(2));
  server_.Advance(seconds(10));
  EXPECT_EQ(early.ReadReply().status, 204);
  ASSERT_TRUE(AwaitWaiting(1));
  news_.Publish("a");
  EXPECT_EQ(late.ReadReply().body, "1 a\n");
  EXPECT_EQ(early.Ask(After(0)).body, "1 a\n") << "on the same connection";
  server_.Advance(seconds(40));
  EXPECT_EQ(late.Ask(After(0)).body, "1 a\n") << "what has been answered has no timer";
}

TEST_F(NewsTest, WhoHasLeftIsForgotten) {
  HttpClient staying(server_.Port());
  ASSERT_TRUE(staying.Send(After(0)));
  {
    HttpClient leaving(server_.Port());
    ASSERT_TRUE(leaving.Send(After(0)));
    ASSERT_TRUE(AwaitWaiting(2));
    leaving.Reset();
  }
  ASSERT_TRUE(AwaitWaiting(1));
  server_.Advance(seconds(5));
  news_.Publish("a");
  EXPECT_EQ(staying.ReadReply().body, "1 a\n");
  server_.Advance(kWait);
  EXPECT_EQ(staying.Ask(After(0)).body, "1 a\n");
}

TEST_F(NewsTest, OldNewsAreForgotten) {
  for (std::size_t i = 1; i <= News::kKept + 5; ++i) {
    news_.Publish("x");
  }
  HttpClient client(server_.Port());
  const HttpReply all = client.Ask(After(0));
  EXPECT_EQ(all.body.substr(0, 4), "6 x\n");
  EXPECT_EQ(client.Ask(After(News::kKept + 4)).body, std::to_string(News::kKept + 5) + " x\n");
}

TEST_F(NewsTest, WhatIsNoQuestionIsRefused) {
  HttpClient client(server_.Port());
  for (const std::string target :
       {"/", "/?", "/?after", "/?after=", "/?after=x", "/?after=-1", "/?after=1x", "/?after=1&b=2",
        "/?before=1", "/?after=1234567890123456789"}) {
    EXPECT_EQ(client.Ask(Get(target)).status, 400) << target;
  }
  const HttpReply post = client.Ask("POST /?after=0 HTTP/1.1\r\nHost: t\r\n\r\n");
  EXPECT_EQ(post.status, 405);
  EXPECT_EQ(post.Field("Allow"), "GET");
}

TEST_F(NewsTest, ATextIsOneLine) {
  for (const std::string text : {"a\nb", "a\rb", "\x01", "a\x7f"}) {
    EXPECT_THROW(news_.Publish(text), std::invalid_argument);
  }
  news_.Publish("");
  HttpClient client(server_.Port());
  EXPECT_EQ(client.Ask(After(0)).body, "1 \n");
}

// Several loops, and a real clock.
auto Telling(News& news) -> HandlerFactory {
  return [&news](Looper& looper) { return std::make_unique<NewsHandler>(looper, news, kWait); };
}

TEST(News, EveryLoopIsToldWhoeverPublishes) {
  constexpr std::size_t kThreads = 4;
  constexpr std::size_t kEach = 50;
  News news;
  test::RunningServer server([&](HttpServer& s) { s.Mount("/", Telling(news)); }, {}, 3);
  std::vector<std::thread> clients;
  for (int i = 0; i < 6; ++i) {
    clients.emplace_back([&] {
      HttpClient client(server.Port());
      std::string all;
      std::size_t last = 0;
      while (last < kThreads * kEach) {
        const HttpReply reply = client.Ask(After(last));
        if (reply.status != 200) {
          ADD_FAILURE() << "status " << reply.status << " after " << last;
          return;
        }
        for (std::size_t at = 0; at < reply.body.size(); at = reply.body.find('\n', at) + 1) {
          if (std::stoull(reply.body.substr(at)) != ++last) {
            ADD_FAILURE() << reply.body << " where number " << last << " was expected";
            return;
          }
        }
      }
    });
  }
  std::vector<std::thread> publishers;
  for (std::size_t i = 0; i < kThreads; ++i) {
    publishers.emplace_back([&] {
      for (std::size_t k = 0; k < kEach; ++k) {
        news.Publish("x");
      }
    });
  }
  for (std::thread& thread : publishers) {
    thread.join();
  }
  for (std::thread& thread : clients) {
    thread.join();
  }
}

TEST(News, WhenTheServerStopsNobodyIsLeftWaiting) {
  News news;
  std::vector<HttpReply> replies;
  {
    NewsHandler* handler = nullptr;
    test::RunningServer server([&](HttpServer& s) {
      s.Mount("/", [&](Looper& looper) {
        auto made = std::make_unique<NewsHandler>(looper, news, kWait);
        handler = made.get();
        return made;
      });
    });
    HttpClient client(server.Port());
    ASSERT_TRUE(client.Send(After(0)));
    ASSERT_TRUE(server.Await([&] { return handler->Waiting() == 1; }));
    server.Get().Stop();
    const HttpReply reply = client.ReadReply();
    EXPECT_EQ(reply.status, 204);
    EXPECT_EQ(reply.Field("Connection"), "close");
    EXPECT_TRUE(client.IsClosedByServer());
  }
  news.Publish("nobody is there any more");
}

}  // namespace
}  // namespace TURTLE_SERVER
