// One response cache on several loops.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "response_cache/response_cache.h"
#include "support/http_client.h"
#include "support/running_server.h"

namespace TURTLE_SERVER {
namespace {

using test::Get;
using test::HttpClient;
using test::RunningServer;

constexpr std::size_t kLoops = 4;

class ResponseCacheLoopsTest : public testing::Test {
 protected:
  // Returns a client of each loop: each new one goes to the loop that has the fewest.
  auto OneOfEach() -> std::vector<HttpClient> {
    std::vector<HttpClient> clients;
    for (std::size_t i = 0; i < kLoops; ++i) {
      clients.emplace_back(server_.Port());
      EXPECT_EQ(clients.back().Ask(Get("/own?" + std::to_string(i))).status, 200);
    }
    calls_ = 0;
    return clients;
  }

  std::atomic<int> calls_{0};
  RunningServer server_{[this](HttpServer& server) {
                          server.Mount("/", Cached({}, test::Answering([this](Exchange& exchange) {
                                                     const int number = ++calls_;
                                                     exchange.Reply(TextResponse(
                                                         200, "reply " + std::to_string(number)));
                                                   })));
                        },
                        {},
                        kLoops};
};

TEST_F(ResponseCacheLoopsTest, WhatOneHasMadeAnswersOnAll) {
  std::vector<HttpClient> clients = OneOfEach();
  for (int round = 0; round < 3; ++round) {
    for (HttpClient& client : clients) {
      EXPECT_EQ(client.Ask(Get("/a")).body, "reply 1");
    }
  }
  EXPECT_EQ(calls_, 1);
}

TEST_F(ResponseCacheLoopsTest, AChangeOnOneCountsOnAllAtOnce) {
  std::vector<HttpClient> clients = OneOfEach();
  for (int round = 1; round <= 20; ++round) {
    for (HttpClient& client : clients) {
      EXPECT_EQ(client.Ask(Get("/a")).body, "reply " + std::to_string(2 * round - 1));
    }
    HttpClient& one = clients[static_cast<std::size_t>(round) % kLoops];
    EXPECT_EQ(one.Ask("POST /a HTTP/1.1\r\nHost: t\r\n\r\n").status, 200);
  }
}

TEST_F(ResponseCacheLoopsTest, ANewReplyTakesThePlaceOfTheOldOneOnAll) {
  std::vector<HttpClient> clients = OneOfEach();
  for (HttpClient& client : clients) {
    EXPECT_EQ(client.Ask(Get("/a")).body, "reply 1");
  }
  EXPECT_EQ(clients[1].Ask(Get("/a", "Cache-Control: no-cache\r\n")).body, "reply 2");
  for (HttpClient& client : clients) {
    EXPECT_EQ(client.Ask(Get("/a")).body, "reply 2");
  }
}

TEST(ResponseCacheCrowdTest, AHundredClientsOfAllLoopsHaveOneReplyMade) {
  std::atomic<int> calls{0};
  std::atomic<Exchange*> first{nullptr};
  RunningServer server(
      [&](HttpServer& made) {
        made.Mount("/", Cached({}, test::Answering([&](Exchange& exchange) {
                                 ++calls;
                                 first = &exchange;
                               })));
      },
      {}, kLoops);
  std::vector<HttpClient> clients;
  for (int i = 0; i < 100; ++i) {
    clients.emplace_back(server.Port());
    clients.back().Send(Get("/"));
  }
  const auto deadline = std::chrono::steady_clock::now() + test::kPatience;
  while (first == nullptr && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  ASSERT_NE(first, nullptr);
  Exchange& exchange = *first;
  ASSERT_TRUE(
      exchange.GetLooper().Post([&exchange] { exchange.Reply(TextResponse(200, "one for all")); }));
  for (HttpClient& client : clients) {
    EXPECT_EQ(client.ReadReply().body, "one for all");
  }
  EXPECT_EQ(calls, 1);
}

// Readers, refreshers and changers at once: each response was really made, and is never older than
// the previous one of the same client. ThreadSanitizer checks more.
TEST_F(ResponseCacheLoopsTest, ManyThingsAtOnceAreNoHarm) {
  std::vector<std::thread> threads;
  for (int worker = 0; worker < 4; ++worker) {
    threads.emplace_back([this, worker] {
      HttpClient client(server_.Port());
      for (int i = 0; i < 500; ++i) {
        const std::string target = "/" + std::to_string(i % 3);
        std::string request = Get(target);
        if (i % 5 == worker) {
          request = "POST " + target + " HTTP/1.1\r\nHost: t\r\n\r\n";
        } else if (i % 7 == worker) {
          request = Get(target, "Cache-Control: no-cache\r\n");
        }
        const test::HttpReply reply = client.Ask(request);
        ASSERT_EQ(reply.status, 200);
        ASSERT_EQ(reply.body.rfind("reply ", 0), 0U);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
