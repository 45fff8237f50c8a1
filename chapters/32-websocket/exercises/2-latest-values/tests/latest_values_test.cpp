// A client that can't keep up gets the newest values, and those in their turn.
#include "websocket/latest_values.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/counting_new.h"
#include "support/running_server.h"
#include "websocket/websocket_client.h"
#include "websocket/websocket_options.h"

namespace TURTLE_SERVER {
namespace {

constexpr std::size_t kGone = 1000;  // instead of a count: the client was closed

class LatestValuesTest : public testing::Test {
 protected:
  void Mount(HttpServer& server) {
    WebSocketHandlers handlers;
    handlers.on_open = [this](WebSocket& socket) {
      socket_ = &socket;
      values_ = std::make_unique<LatestValues>(socket);
    };
    handlers.on_close = [this](WebSocket& /*socket*/, CloseCode, std::string_view) {
      values_.reset();
      socket_ = nullptr;
    };
    handlers.on_room = [this](WebSocket& /*socket*/) {
      ++rooms_;
      if (passes_room_on_) {
        values_->OnRoom();
        left_.push_back(values_->Waiting());
      }
    };
    WebSocketOptions options;
    options.high_water = Connection::kHighWater;
    server.WebSocket("/", handlers, options);
  }

  void SetUp() override {
    client_ = std::make_unique<WebSocketClient>(
        NetAddress("127.0.0.1", static_cast<std::uint16_t>(server_.Port())));
    ASSERT_TRUE(server_.Await([this] { return values_ != nullptr; }));
  }

  // Sends bytes until the kernel takes no more, and there is no room.
  void Fill() {
    for (int full = 0; full < 5; ++full) {
      if (server_.Ask([this] { return socket_ != nullptr && socket_->CanSend(); })) {
        server_.Ask([this] { socket_->SendBinary(std::string(100'000, 'x')); });
        ++filled_;
        full = 0;
      }
      server_.Settle();
    }
  }
  void ReceiveFill() {
    for (; filled_ > 0; --filled_) {
      ASSERT_EQ(Next().size(), 100'000U);
    }
  }

  void Send(const std::string& key, const std::string& text) {
    server_.Ask([&] {
      if (values_) {
        values_->Send(key, text);
      }
    });
  }
  void OnRoom() {
    server_.Ask([this] {
      if (values_) {
        values_->OnRoom();
      }
    });
  }
  auto Waiting() -> std::size_t {
    return server_.Ask([this] { return values_ ? values_->Waiting() : kGone; });
  }
  auto Replaced() -> std::uint64_t {
    return server_.Ask([this] { return values_ ? values_->Replaced() : kGone; });
  }
  auto Next() -> std::string {
    const auto event = client_->Receive();
    return event && event->event == ReadEvent::kMessage ? event->bytes : "no message";
  }

  // Of the loop's thread.
  WebSocket* socket_ = nullptr;
  std::unique_ptr<LatestValues> values_;
  int rooms_ = 0;
  bool passes_room_on_ = true;
  std::vector<std::size_t> left_;  // waited after each OnRoom()

  int filled_ = 0;
  test::RunningServer server_{[this](HttpServer& server) { Mount(server); }};
  std::unique_ptr<WebSocketClient> client_;
};

TEST_F(LatestValuesTest, AClientThatKeepsUpGetsEachValue) {
  for (int i = 0; i < 100; ++i) {
    Send("key", std::to_string(i));
    EXPECT_EQ(Next(), std::to_string(i));
  }
  EXPECT_EQ(Waiting(), 0U);
  EXPECT_EQ(Replaced(), 0U);
}

TEST_F(LatestValuesTest, AClientThatKeepsUpCostsNoAllocation) {
  const std::string key = "a key that is too long for a small string to keep it";
  const std::string text(1000, 'x');
  for (int i = 0; i < 70; ++i) {
    server_.Ask([&] {
      test::counts_allocations = i >= 20;
      if (values_) {
        values_->Send(key, text);
      }
      test::counts_allocations = false;
    });
    EXPECT_TRUE(Next() == text);
  }
  EXPECT_EQ(test::allocations, 0U);
}

TEST_F(LatestValuesTest, ASlowClientGetsTheNewestValue) {
  Fill();
  for (int i = 0; i < 100; ++i) {
    Send("key", std::to_string(i));
  }
  EXPECT_EQ(Waiting(), 1U);
  EXPECT_EQ(Replaced(), 99U);
  ReceiveFill();
  EXPECT_EQ(Next(), "99");
  EXPECT_EQ(Waiting(), 0U);
  Send("key", "more");
  EXPECT_EQ(Next(), "more");
}

TEST_F(LatestValuesTest, AReplacedValueKeepsItsTurn) {
  Fill();
  Send("a", "a1");
  Send("b", "b1");
  Send("c", "c1");
  Send("b", "b2");
  Send("a", "a2");
  Send("", "no key");
  EXPECT_EQ(Waiting(), 4U);
  EXPECT_EQ(Replaced(), 2U);
  ReceiveFill();
  for (const char* const text : {"a2", "b2", "c1", "no key"}) {
    EXPECT_EQ(Next(), text);
  }
}

TEST_F(LatestValuesTest, ANewValueWaitsForThoseThatWait) {
  server_.Ask([this] { passes_room_on_ = false; });
  Fill();
  Send("a", "a1");
  ReceiveFill();
  ASSERT_TRUE(server_.Await([this] { return rooms_ == 1; }));
  ASSERT_TRUE(server_.Ask([this] { return socket_ != nullptr && socket_->CanSend(); }));
  Send("b", "b1");
  Send("a", "a2");
  EXPECT_EQ(Waiting(), 2U);
  OnRoom();
  EXPECT_EQ(Next(), "a2");
  EXPECT_EQ(Next(), "b1");
  EXPECT_EQ(Waiting(), 0U);
}

TEST_F(LatestValuesTest, AKeyMayWaitAgain) {
  for (const char* const text : {"first", "second"}) {
    Fill();
    Send("a", "older");
    Send("b", text);
    Send("a", text);
    EXPECT_EQ(Waiting(), 2U);
    ReceiveFill();
    EXPECT_EQ(Next(), text);
    EXPECT_EQ(Next(), text);
    EXPECT_EQ(Waiting(), 0U);
  }
  EXPECT_EQ(Replaced(), 2U);
}

TEST_F(LatestValuesTest, OnlyWhatThereIsRoomForIsSent) {
  Fill();
  for (int i = 0; i < 30; ++i) {
    Send(std::to_string(i), std::string(100'000, static_cast<char>('A' + i)));
  }
  EXPECT_EQ(Waiting(), 30U);
  ReceiveFill();
  for (int i = 0; i < 30; ++i) {
    ASSERT_TRUE(Next() == std::string(100'000, static_cast<char>('A' + i))) << i;
  }
  EXPECT_EQ(Waiting(), 0U);
  EXPECT_GE(server_.Ask([this] { return left_.empty() ? 0 : left_.front(); }), 27U)
      << "256 KiB are three values";
}

TEST_F(LatestValuesTest, TheValuesAreCopies) {
  Fill();
  std::string key = "a key that is too long to be kept in a small string";
  std::string text = "a text that is too long to be kept in a small string";
  Send(key, text);
  key[0] = text[0] = 'A';
  Send(key, text);
  EXPECT_EQ(Waiting(), 2U);
  ReceiveFill();
  EXPECT_EQ(Next()[0], 'a');
  EXPECT_EQ(Next()[0], 'A');
}

TEST_F(LatestValuesTest, NothingWaitsForAClosedSocket) {
  Fill();
  Send("a", "a1");
  Send("b", "b1");
  ASSERT_EQ(Waiting(), 2U);
  server_.Ask([this] { socket_->Close(); });
  Send("c", "c1");
  EXPECT_EQ(Waiting(), 0U);
  OnRoom();
  Send("a", "a2");
  EXPECT_EQ(Waiting(), 0U);
  ReceiveFill();
  EXPECT_EQ(client_->Receive()->event, ReadEvent::kClose);
}

TEST_F(LatestValuesTest, OnRoomWithoutValuesDoesNothing) {
  OnRoom();
  Send("a", "a1");
  EXPECT_EQ(Next(), "a1");
}

}  // namespace
}  // namespace TURTLE_SERVER
