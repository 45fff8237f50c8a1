#include "web/long_poll.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "support/http_client.h"
#include "support/running_server.h"

namespace TURTLE_SERVER {
namespace {

using nlohmann::json;
using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::RunningServer;

class LongPollTest : public testing::Test {
 protected:
  ~LongPollTest() override { poll_.End(); }

  // A client that has requested the text after this number.
  auto Client(int after) -> std::unique_ptr<HttpClient> {
    auto client = std::make_unique<HttpClient>(server_.Port());
    EXPECT_TRUE(client->Send(Get("/next/" + std::to_string(after))));
    return client;
  }

  // True once so many clients wait.
  auto Wait(std::size_t count) -> bool {
    const auto end = std::chrono::steady_clock::now() + test::kPatience;
    while (poll_.Waiting() != count && std::chrono::steady_clock::now() < end) {
      server_.Ask([] {});  // the loop has a turn
    }
    return poll_.Waiting() == count;
  }

  static void ExpectText(HttpClient& client, std::int64_t number, const std::string& text) {
    const HttpReply reply = client.ReadReply();
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.body, json({{"number", number}, {"text", text}}).dump());
  }

  LongPoll poll_{3};

 private:
  RunningServer server_{[this](HttpServer& http) {
    http.Get("/next/{after:int}", [this](const ServerRequest& req, const Responder& responder) {
      poll_.Wait(req.Integer("after"), responder);
    });
  }};
};

TEST_F(LongPollTest, AllThatWaitGetTheNextText) {
  const auto one = Client(0);
  const auto two = Client(0);
  ASSERT_TRUE(Wait(2));
  EXPECT_EQ(poll_.Say("first"), 1);
  EXPECT_EQ(poll_.Waiting(), 0U);
  ExpectText(*one, 1, "first");
  ExpectText(*two, 1, "first");
}

TEST_F(LongPollTest, AClientThatIsBehindGetsTheLastTextAtOnce) {
  EXPECT_EQ(poll_.Say("first"), 1);
  EXPECT_EQ(poll_.Say("second"), 2);
  ExpectText(*Client(0), 2, "second");
  ExpectText(*Client(1), 2, "second");
  const auto waits = Client(2);
  ASSERT_TRUE(Wait(1));
  poll_.Say("third");
  ExpectText(*waits, 3, "third");
}

TEST_F(LongPollTest, OnlySoManyMayWait) {
  const std::unique_ptr<HttpClient> clients[] = {Client(0), Client(0), Client(0)};
  ASSERT_TRUE(Wait(3));
  const HttpReply refused = Client(0)->ReadReply();
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.Field("Retry-After"), "1");
  poll_.Say("now");
  for (const auto& client : clients) {
    ExpectText(*client, 1, "now");
  }
}

TEST_F(LongPollTest, AClientThatHasGoneIsForgotten) {
  const auto stays = Client(0);
  ASSERT_TRUE(Wait(1));
  for (int i = 0; i < 10; ++i) {
    const auto goes = Client(0);
    ASSERT_TRUE(Wait(2));
    goes->Reset();
    ASSERT_TRUE(Wait(1));
  }
  poll_.Say("still here");
  ExpectText(*stays, 1, "still here");
}

TEST_F(LongPollTest, TheEndLetsEverybodyGo) {
  const auto waits = Client(0);
  ASSERT_TRUE(Wait(1));
  poll_.End();
  EXPECT_EQ(waits->ReadReply().status, 204);
  EXPECT_EQ(Client(0)->ReadReply().status, 204);
}

TEST_F(LongPollTest, ManyThreadsTellEachClientOnce) {
  std::vector<std::thread> speakers;
  const auto one = Client(0);
  ASSERT_TRUE(Wait(1));
  for (int i = 0; i < 4; ++i) {
    speakers.emplace_back([this] {
      for (int k = 0; k < 50; ++k) {
        poll_.Say("text");
      }
    });
  }
  for (std::thread& speaker : speakers) {
    speaker.join();
  }
  EXPECT_EQ(one->ReadReply().status, 200);
  EXPECT_EQ(poll_.Say("last"), 201);
  ASSERT_TRUE(one->Send(Get("/next/200")));
  ExpectText(*one, 201, "last");
}

}  // namespace
}  // namespace TURTLE_SERVER
