// Silent, half-open and slow clients, on a clock that the test turns.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "support/clocked_server.h"
#include "support/close_log.h"
#include "support/frames.h"
#include "websocket/websocket_client.h"
#include "websocket/websocket_handler.h"
#include "websocket/websocket_options.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::seconds;

class WebSocketDeadlines : public testing::Test {
 protected:
  void Start() {
    handlers_ = log_.Handlers();
    handlers_.on_open = [this](WebSocket& socket) {
      socket_ = &socket;
      log_.Add("open");
    };
    server_ = std::make_unique<test::ClockedServer>([this](Looper&, LoopHttp& http) {
      http.Mount("/", std::make_unique<WebSocketHandler>(std::make_shared<const WebSocketRoute>(
                          WebSocketRoute{handlers_, Checked(options_)})));
    });
    client_ = std::make_unique<WebSocketClient>(
        NetAddress("127.0.0.1", static_cast<std::uint16_t>(server_->Port())));
    ASSERT_TRUE(server_->Loop().Await([&] { return log_.Last() == "open"; }));
  }

  auto Next() -> WebSocketEvent { return client_->ReceiveFrame().value_or(WebSocketEvent()); }
  auto AwaitLast(const std::string& last) -> bool {
    return server_->Loop().Await([&] { return log_.Last() == last; });
  }
  // Sends a message, and waits until the server has it.
  void SayHello() {
    log_.Add("");
    client_->SendText("hello");
    ASSERT_TRUE(AwaitLast("hello"));
  }

  WebSocketOptions options_;
  WebSocketHandlers handlers_;
  test::CloseLog log_;
  WebSocket* socket_ = nullptr;
  std::unique_ptr<test::ClockedServer> server_;
  std::unique_ptr<WebSocketClient> client_;
};

TEST_F(WebSocketDeadlines, ASilentClientIsPingedAndThenGone) {
  Start();
  server_->Advance(seconds(29));
  server_->Advance(seconds(1));
  EXPECT_EQ(Next().event, ReadEvent::kPing);
  server_->Advance(seconds(9));
  EXPECT_EQ(log_.Last(), "open");
  server_->Advance(seconds(1));
  EXPECT_TRUE(AwaitLast("close 1006 "));
  EXPECT_EQ(Next().event, ReadEvent::kFailed);
}

TEST_F(WebSocketDeadlines, AnyByteIsASignOfLife) {
  Start();
  for (int i = 0; i < 4; ++i) {
    server_->Advance(seconds(30));
    EXPECT_EQ(Next().event, ReadEvent::kPing) << i;
    server_->Advance(seconds(9));
    SayHello();
  }
  EXPECT_EQ(log_.Last(), "hello");
}

TEST_F(WebSocketDeadlines, AClientThatTalksIsNotPinged) {
  Start();
  for (int i = 0; i < 4; ++i) {
    server_->Advance(seconds(20));
    SayHello();
  }
  client_->Ping("first");
  EXPECT_EQ(Next().event, ReadEvent::kPong);
  server_->Advance(seconds(30));
  EXPECT_EQ(Next().event, ReadEvent::kPing);
}

TEST_F(WebSocketDeadlines, AnIdleOneIsClosedThoughItAnswersPings) {
  options_.idle_timeout = seconds(100);
  Start();
  SayHello();
  for (int i = 0; i < 3; ++i) {
    server_->Advance(seconds(30));
    EXPECT_EQ(Next().event, ReadEvent::kPing);
    client_->SendBytes(test::Masked(0x8A, ""));
    client_->Ping();
    EXPECT_EQ(Next().event, ReadEvent::kPong);
  }
  server_->Advance(seconds(10));
  const WebSocketEvent event = Next();
  EXPECT_EQ(event.event, ReadEvent::kClose);
  EXPECT_EQ(event.code, CloseCode::kNormal);
  EXPECT_EQ(event.bytes, "idle");
}

TEST_F(WebSocketDeadlines, AClientThatDoesNotAnswerACloseIsDropped) {
  Start();
  server_->Loop().Ask([&] { socket_->Close(CloseCode::kNormal, "enough"); });
  EXPECT_EQ(server_->Loop().Ask([&] { return socket_->SendText("too late"); }),
            SendResult::kClosed);
  EXPECT_EQ(Next().event, ReadEvent::kClose);
  server_->Advance(seconds(4));
  client_->SendText("I go on talking");
  server_->Advance(std::chrono::milliseconds(500));
  EXPECT_EQ(log_.Last(), "open");
  server_->Advance(seconds(1));
  EXPECT_TRUE(AwaitLast("close 1006 "));
}

TEST_F(WebSocketDeadlines, OneThatReadsNothingIsDroppedAndNotForItsSilence) {
  options_.overflow = Overflow::kWait;
  Start();
  // More than the kernel takes.
  server_->Loop().Ask([&] { socket_->SendBinary(std::string(15 << 20, 'x')); });
  ASSERT_TRUE(server_->Loop().Await([&] { return socket_->UnsentBytes() != 0; }));
  server_->Advance(seconds(29));
  EXPECT_EQ(log_.Last(), "open");
  for (int i = 0; i < 5 && log_.Last() == "open"; ++i) {
    server_->Advance(seconds(30));
  }
  EXPECT_EQ(log_.Last(), "close 1006 ");
}

TEST_F(WebSocketDeadlines, NeverMeansNever) {
  options_.ping_interval = options_.idle_timeout = seconds(0);
  Start();
  server_->Advance(std::chrono::hours(1000));
  client_->Ping("only this");
  EXPECT_EQ(Next().event, ReadEvent::kPong);
}

class WebSocketOverflow : public WebSocketDeadlines {
 protected:
  // Sends to a client that doesn't read, until something happens.
  auto Fill() -> SendResult {
    SendResult result = SendResult::kQueued;
    for (int i = 0; i < 1000 && result == SendResult::kQueued; ++i) {
      result = server_->Loop().Ask([&] { return socket_->SendBinary(std::string(100'000, 'x')); });
    }
    return result;
  }
};

TEST_F(WebSocketOverflow, ASlowReaderIsClosedWith1008) {
  Start();
  EXPECT_EQ(Fill(), SendResult::kClosed);
  WebSocketEvent event = Next();
  while (event.event == ReadEvent::kMessage) {
    event = Next();
  }
  EXPECT_EQ(event.event, ReadEvent::kClose);
  EXPECT_EQ(event.code, CloseCode::kPolicyViolation);
}

TEST_F(WebSocketOverflow, OrMissesMessagesUntilThereIsRoom) {
  options_.overflow = Overflow::kDrop;
  Start();
  EXPECT_EQ(Fill(), SendResult::kDropped);
  EXPECT_FALSE(server_->Loop().Ask([&] { return socket_->CanSend(); }));
  log_.Add("reading");
  while (log_.Last() != "room") {
    ASSERT_EQ(Next().event, ReadEvent::kMessage);
  }
  EXPECT_EQ(server_->Loop().Ask([&] { return socket_->SendText("again"); }), SendResult::kQueued);
  WebSocketEvent event = Next();
  while (event.event == ReadEvent::kMessage && event.bytes != "again") {
    event = Next();
  }
  EXPECT_EQ(event.bytes, "again");
}

TEST_F(WebSocketOverflow, AMessageThatIsDroppedDoesNotCountForTheIdleTimeout) {
  options_.overflow = Overflow::kDrop;
  options_.idle_timeout = seconds(100);
  options_.write_timeout = seconds(0);
  Start();
  EXPECT_EQ(Fill(), SendResult::kDropped);
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(server_->Loop().Ask([&] { return socket_->IsOpen(); }));
    EXPECT_EQ(server_->Loop().Ask([&] { return socket_->SendText("again"); }),
              SendResult::kDropped);
    server_->Advance(seconds(25));
  }
  EXPECT_FALSE(server_->Loop().Ask([&] { return socket_->IsOpen(); }));
}

TEST_F(WebSocketOverflow, ASenderThatStopsInTimeIsToldOfRoom) {
  Start();
  while (server_->Loop().Ask([&] { return socket_->CanSend(); })) {
    server_->Loop().Ask([&] { socket_->SendBinary(std::string(100'000, 'x')); });
  }
  log_.Add("reading");
  while (log_.Last() != "room") {
    ASSERT_EQ(Next().event, ReadEvent::kMessage);
  }
  EXPECT_TRUE(server_->Loop().Ask([&] { return socket_->CanSend(); }));
}

TEST_F(WebSocketOverflow, OrIsWaitedForUpToALimit) {
  options_.overflow = Overflow::kWait;
  options_.max_unsent_bytes = 4 << 20;
  Start();
  EXPECT_EQ(Fill(), SendResult::kClosed);
  EXPECT_GT(server_->Loop().Ask([&] { return socket_->UnsentBytes(); }), std::size_t{3} << 20);
}

}  // namespace
}  // namespace TURTLE_SERVER
