// Exchanges by HTTP/1.1: numbers, refused statuses, and the memory that a loop lends them.
#include "web/http_exchange.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "support/http_client.h"
#include "support/running_server.h"

namespace TURTLE_SERVER {
namespace {

using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::RunningServer;
using test::Waiting;

class HttpExchangeTest : public testing::Test {
 protected:
  Looper looper_;
  LoopHttp http_{looper_, HttpOptions()};
  Http1Shared http1_{http_};
};

TEST_F(HttpExchangeTest, OneExchangeServesOneRequestAfterTheOther) {
  std::unique_ptr<HttpExchange> first = http1_.TakeExchange();
  const Exchange* address = first.get();
  const std::unique_ptr<HttpExchange> meanwhile = http1_.TakeExchange();
  EXPECT_NE(meanwhile.get(), address);
  http1_.GiveBack(std::move(first));
  EXPECT_EQ(http1_.TakeExchange().get(), address);
}

TEST_F(HttpExchangeTest, TheScratchIsEmptyAndKeepsItsMemory) {
  http1_.HeadScratch().assign(1000, 'x');
  const char* memory = http1_.HeadScratch().data();
  EXPECT_TRUE(http1_.HeadScratch().empty());
  EXPECT_GE(http1_.HeadScratch().capacity(), 1000U);
  EXPECT_EQ(http1_.HeadScratch().data(), memory);
}

TEST(HttpExchange, AStatusThatIsNotFinalIsRefused) {
  std::string error;
  RunningServer server([&](Exchange& exchange) {
    try {
      exchange.Reply(Response(103));
    } catch (const std::invalid_argument& thrown) {
      error = thrown.what();
      exchange.Reply(Response(204));
    }
  });
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Get("/")).status, 204);
  EXPECT_EQ(error, "reply with status 103: not a final one");
}

TEST(HttpExchange, EachOfALoopHasItsOwnNumber) {
  Waiting waiting;
  RunningServer server([&](Exchange& exchange) { waiting.Keep(exchange); });
  HttpClient one(server.Port());
  HttpClient other(server.Port());
  ASSERT_TRUE(one.Send(Get("/")));
  ASSERT_TRUE(server.Await([&] { return waiting.Count() == 1; }));
  const std::uint32_t first = server.Ask([&] { return waiting.Last()->Id().number; });
  ASSERT_TRUE(other.Send(Get("/")));
  ASSERT_TRUE(server.Await([&] { return waiting.Count() == 2; }));
  EXPECT_NE(server.Ask([&] { return waiting.Last()->Id().number; }), first);
}

TEST(HttpExchange, AttachedStateMayAnswerWhenItGoes) {
  class LastWord : public ExchangeState {
   public:
    LastWord(Exchange& exchange, bool& gone) : exchange_(exchange), gone_(gone) {}
    LastWord(const LastWord&) = delete;
    auto operator=(const LastWord&) -> LastWord& = delete;
    ~LastWord() override {
      gone_ = true;
      if (!exchange_.Replied()) {
        exchange_.Reply(Response(503));  // nobody is there to read it
      }
    }

   private:
    Exchange& exchange_;
    bool& gone_;
  };

  bool attached = false;
  bool gone = false;
  RunningServer server([&](Exchange& exchange) {
    exchange.Attach(std::make_unique<LastWord>(exchange, gone));
    attached = true;
  });
  {
    HttpClient client(server.Port());
    ASSERT_TRUE(client.Send(Get("/")));
    ASSERT_TRUE(server.Await([&] { return attached; }));
    client.Reset();
  }
  EXPECT_TRUE(server.Await([&] { return gone; }));
}

// A line end after a request is not part of the next one, so closing loses nothing.
TEST(HttpExchange, ALineEndAfterTheLastRequestIsNoRequest) {
  Waiting waiting;
  RunningServer server([&](Exchange& exchange) { waiting.Keep(exchange); });
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(Get("/") + "\r\n"));
  ASSERT_TRUE(server.Await([&] { return waiting.Count() == 1; }));
  server.Get().Stop();
  ASSERT_TRUE(server.Await([&] { return server.GetLooper().Stopping(); }));
  server.Ask([&] { waiting.Last()->Reply(TextResponse(200, "last")); });
  const HttpReply reply = client.ReadReply();
  EXPECT_EQ(reply.body, "last");
  EXPECT_EQ(reply.Field("Connection"), "close");
  server.Join();
}

}  // namespace
}  // namespace TURTLE_SERVER
