#include "web/relay.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "core/read_scratch.h"
#include "support/client.h"
#include "support/clocked_server.h"
#include "support/http_client.h"
#include "support/running_server.h"

namespace TURTLE_SERVER {
namespace {

using test::Get;
using test::HttpClient;
using test::HttpReply;

constexpr std::size_t kLarge = std::size_t{24} * 1024 * 1024;  // more than two sockets hold

auto Put(const std::string& name, std::size_t length, const std::string& fields = {})
    -> std::string {
  return "PUT /" + name + " HTTP/1.1\r\nHost: t\r\nContent-Length: " + std::to_string(length) +
         "\r\n" + fields + "\r\n";
}

auto PutChunks(const std::string& name) -> std::string {
  return "PUT /" + name + " HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n";
}

// Returns the bytes up to `text`, or all that came within kPatience.
auto ReceiveUpTo(test::Client& client, const std::string& text) -> std::string {
  std::string received;
  while (received.find(text) == std::string::npos) {
    const std::string byte = client.Receive(1);
    if (byte.empty()) {
      break;
    }
    received += byte;
  }
  return received;
}

auto LargeBody() -> std::string {
  std::string body(kLarge, '\0');
  std::uint32_t state = 1;
  for (char& byte : body) {
    state = state * 1664525 + 1013904223;
    byte = static_cast<char>(state >> 24);
  }
  return body;
}

class RelayTest : public testing::Test {
 protected:
  // Waits until the server has taken the request of so many clients.
  auto AwaitOpen(std::size_t count) -> bool {
    return server_.Await([this, count] { return handled_ == count; });
  }

  class Counting : public RequestHandler {
   public:
    explicit Counting(std::size_t& handled) : handled_(handled) {}
    void Handle(Exchange& exchange) override {
      ++handled_;
      relay_.Handle(exchange);
    }

   private:
    std::size_t& handled_;
    Relay relay_;
  };

  static auto LargeBodies() -> HttpOptions {
    HttpOptions options;
    options.body.max_body_bytes = kLarge;
    return options;
  }

  std::size_t handled_ = 0;  // the loop's
  test::RunningServer server_{
      [this](HttpServer& server) {
        server.Mount("/", [this](Looper&) { return std::make_unique<Counting>(handled_); });
      },
      LargeBodies()};
  HttpClient sender_{server_.Port()};
  HttpClient receiver_{server_.Port()};
};

TEST_F(RelayTest, TheSenderComesFirst) {
  ASSERT_TRUE(sender_.Send(Put("a", 5) + "hello"));
  ASSERT_TRUE(AwaitOpen(1));
  const HttpReply reply = receiver_.Ask(Get("/a"));
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, "hello");
  EXPECT_EQ(reply.Field("Content-Length"), "5");
  EXPECT_EQ(reply.Field("Content-Type"), "application/octet-stream");
  const HttpReply receipt = sender_.ReadReply();
  EXPECT_EQ(receipt.status, 200);
  EXPECT_EQ(receipt.body, "5 bytes\n");
}

TEST_F(RelayTest, TheReceiverComesFirst) {
  ASSERT_TRUE(receiver_.Send(Get("/a")));
  ASSERT_TRUE(AwaitOpen(1));
  EXPECT_EQ(sender_.Ask(Put("a", 5, "Content-Type: text/plain\r\n") + "hello").body, "5 bytes\n");
  const HttpReply reply = receiver_.ReadReply();
  EXPECT_EQ(reply.body, "hello");
  EXPECT_EQ(reply.Field("Content-Type"), "text/plain");
}

TEST_F(RelayTest, ANameCanBeUsedAgainAndSoCanTheConnections) {
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(sender_.Send(Put("a", 1) + std::to_string(i)));
    EXPECT_EQ(receiver_.Ask(Get("/a")).body, std::to_string(i));
    EXPECT_EQ(sender_.ReadReply().body, "1 bytes\n");
  }
}

TEST_F(RelayTest, ABodyOfUnknownLengthAndAnEmptyOne) {
  ASSERT_TRUE(sender_.Send(PutChunks("a") + "3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n"));
  const HttpReply reply = receiver_.Ask(Get("/a"));
  EXPECT_EQ(reply.body, "hello");
  EXPECT_EQ(reply.Field("Transfer-Encoding"), "chunked");
  EXPECT_EQ(sender_.ReadReply().body, "5 bytes\n");
  ASSERT_TRUE(sender_.Send(Put("a", 0)));
  const HttpReply empty = receiver_.Ask(Get("/a"));
  EXPECT_EQ(empty.body, "");
  EXPECT_EQ(empty.Field("Content-Length"), "0");
  EXPECT_EQ(sender_.ReadReply().body, "0 bytes\n");
}

TEST_F(RelayTest, OnlyWhoHasTheSameNameMeets) {
  ASSERT_TRUE(sender_.Send(Put("a", 1) + "a"));
  HttpClient other(server_.Port());
  ASSERT_TRUE(other.Send(Put("b", 1) + "b"));
  EXPECT_EQ(receiver_.Ask(Get("/b")).body, "b");
  EXPECT_EQ(receiver_.Ask(Get("/a")).body, "a");
}

TEST_F(RelayTest, WhatHasComeIsPassedOnAtOnce) {
  test::Client receiver(server_.Port());
  ASSERT_TRUE(receiver.Send(Get("/a")));
  ASSERT_TRUE(sender_.Send(Put("a", 5) + "hel"));
  EXPECT_NE(ReceiveUpTo(receiver, "\r\n\r\nhel").find("\r\n\r\nhel"), std::string::npos);
  ASSERT_TRUE(sender_.Send("lo"));
  EXPECT_EQ(receiver.Receive(2), "lo");
}

// A body without a receiver is not requested.
TEST_F(RelayTest, TheSenderIsNotLetInBeforeTheReceiverIsThere) {
  ASSERT_TRUE(sender_.Send(Put("a", 5, "Expect: 100-continue\r\n")));
  ASSERT_TRUE(AwaitOpen(1));
  server_.Settle();
  EXPECT_FALSE(sender_.HasInput(std::chrono::milliseconds(0)));
  ASSERT_TRUE(receiver_.Send(Get("/a")));
  EXPECT_EQ(sender_.ReadReply().status, 100);
  EXPECT_EQ(sender_.Ask("hello").status, 200);
  EXPECT_EQ(receiver_.ReadReply().body, "hello");
}

TEST_F(RelayTest, AReceiverThatDoesNotReadMakesTheSenderWait) {
  const std::string body = LargeBody();
  std::thread sender([&] {
    EXPECT_TRUE(sender_.Send(PutChunks("a")));
    for (std::size_t at = 0; at < body.size(); at += 65536) {
      EXPECT_TRUE(sender_.Send("10000\r\n" + body.substr(at, 65536) + "\r\n"));
    }
    EXPECT_EQ(sender_.Ask("0\r\n\r\n").body, std::to_string(kLarge) + " bytes\n");
  });
  EXPECT_TRUE(receiver_.Send(Get("/a")));
  EXPECT_TRUE(server_.Await([this] {  // until nothing fits any more
    bool full = false;
    server_.GetLooper().ForEachConnection(
        [&](Connection* connection) { full = full || connection->Paused(); });
    return full;
  }));
  for (int i = 0; i < 100; ++i) {
    server_.Settle();
  }
  server_.Ask([this] {
    server_.GetLooper().ForEachConnection([](Connection* connection) {
      EXPECT_LE(connection->UnsentBytes(), Connection::kHighWater + 2 * ReadScratch::kSize);
      EXPECT_LE(connection->Read().size(), 2 * ReadScratch::kSize);
    });
  });
  const HttpReply reply = receiver_.ReadReply();
  EXPECT_TRUE(reply.complete);
  EXPECT_TRUE(reply.body == body);
  sender.join();
}

TEST_F(RelayTest, ASenderThatBreaksOffIsNotTakenForComplete) {
  for (const std::string& head : {Put("a", 10), PutChunks("a") + "a\r\n"}) {
    test::Client receiver(server_.Port());
    HttpClient sender(server_.Port());
    ASSERT_TRUE(receiver.Send(Get("/a")));
    ASSERT_TRUE(sender.Send(head + "01234"));
    EXPECT_NE(ReceiveUpTo(receiver, "01234"), "");
    sender.Reset();
    EXPECT_EQ(receiver.Receive(100).find('0'), std::string::npos) << "no last chunk";
  }
}

TEST_F(RelayTest, ASenderThatTalksNonsenseIsToldAndItsReceiverCut) {
  ASSERT_TRUE(receiver_.Send(Get("/a")));
  ASSERT_TRUE(AwaitOpen(1));
  EXPECT_EQ(sender_.Ask(PutChunks("a") + "5\r\nhello\r\nzz\r\n").status, 400);
  const HttpReply reply = receiver_.ReadReply();
  EXPECT_EQ(reply.status, 200);
  EXPECT_FALSE(reply.complete);
}

TEST_F(RelayTest, AReceiverThatBreaksOffIsToldToTheSender) {
  ASSERT_TRUE(receiver_.Send(Get("/a")));
  ASSERT_TRUE(AwaitOpen(1));
  ASSERT_TRUE(sender_.Send(PutChunks("a") + "5\r\nhello\r\n"));
  EXPECT_TRUE(receiver_.HasInput(test::kPatience));
  receiver_.Reset();
  EXPECT_EQ(sender_.ReadReply().status, 502);
}

TEST_F(RelayTest, WhoWaitsAndBreaksOffGivesTheNameBack) {
  {
    HttpClient gone(server_.Port());
    ASSERT_TRUE(gone.Send(Get("/a")));
    ASSERT_TRUE(AwaitOpen(1));
    gone.Reset();
  }
  ASSERT_TRUE(server_.Await([this] { return server_.GetLooper().ConnectionCount() == 2; }));
  {
    HttpClient gone(server_.Port());
    ASSERT_TRUE(gone.Send(Put("a", 4) + "gone"));
    ASSERT_TRUE(AwaitOpen(2));
    gone.Reset();
  }
  ASSERT_TRUE(server_.Await([this] { return server_.GetLooper().ConnectionCount() == 2; }));
  ASSERT_TRUE(sender_.Send(Put("a", 4) + "here"));
  EXPECT_EQ(receiver_.Ask(Get("/a")).body, "here");
}

TEST_F(RelayTest, ThereIsOneOfEachAndNoMore) {
  ASSERT_TRUE(sender_.Send(Put("a", 5) + "hel"));
  ASSERT_TRUE(AwaitOpen(1));
  EXPECT_EQ(HttpClient(server_.Port()).Ask(Put("a", 1) + "x").status, 409);
  ASSERT_TRUE(receiver_.Send(Get("/a")));
  ASSERT_TRUE(AwaitOpen(3));
  EXPECT_EQ(HttpClient(server_.Port()).Ask(Get("/a")).status, 409);
  EXPECT_EQ(HttpClient(server_.Port()).Ask(Put("a", 1) + "x").status, 409);
  EXPECT_EQ(sender_.Ask("lo").status, 200);
  EXPECT_EQ(receiver_.ReadReply().body, "hello");
}

TEST_F(RelayTest, OtherMethodsAreRefused) {
  const HttpReply reply = sender_.Ask("POST /a HTTP/1.1\r\nHost: t\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(reply.status, 405);
  EXPECT_EQ(reply.Field("Allow"), "GET, PUT");
}

TEST(Relay, AServerMayEndInTheMiddle) {
  std::optional<test::ClockedServer> server(
      std::in_place, [](Looper&, LoopHttp& http) { http.Mount("/", std::make_unique<Relay>()); });
  test::Client receiver(server->Port());
  HttpClient sender(server->Port());
  HttpClient waits(server->Port());
  ASSERT_TRUE(waits.Send(Put("b", 1) + "x"));
  ASSERT_TRUE(receiver.Send(Get("/a")));
  ASSERT_TRUE(sender.Send(PutChunks("a") + "5\r\nhello\r\n"));
  EXPECT_NE(ReceiveUpTo(receiver, "hello"), "");
  server.reset();
  EXPECT_EQ(receiver.Receive(100).find("\r\n0\r\n"), std::string::npos) << "it is not complete";
}

}  // namespace
}  // namespace TURTLE_SERVER
