// Silent, half-open and slow clients, on a clock that the test turns.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "core/send_queue.h"
#include "core/tcp.h"
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
  void Start(const WebSocketClientOptions& client = {}) {
    handlers_ = log_.Handlers();
    handlers_.on_open = [this](WebSocket& socket) {
      socket_ = &socket;
      log_.Add("open");
    };
    handlers_.on_message = [this](WebSocket& socket, const Message& message) {
      log_.Add(std::string(message.bytes));
      if (then_) {
        then_(socket);
      }
    };
    server_ = std::make_unique<test::ClockedServer>([this](Looper&, LoopHttp& http) {
      http.Mount("/", std::make_unique<WebSocketHandler>(std::make_shared<const WebSocketRoute>(
                          WebSocketRoute{handlers_, Checked(options_)})));
    });
    client_ = std::make_unique<WebSocketClient>(
        NetAddress("127.0.0.1", static_cast<std::uint16_t>(server_->Port())), client);
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
  std::function<void(WebSocket&)> then_;  // called for each message
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

TEST_F(WebSocketDeadlines, ACloseComesAfterEverythingThatWasSentBefore) {
  options_.overflow = Overflow::kWait;
  options_.write_timeout = seconds(0);
  Start();
  server_->Loop().Ask([&] {
    socket_->SendBinary(std::string(15 << 20, 'x'));
    socket_->Close();
  });
  for (int i = 0; i < 5; ++i) {
    server_->Advance(seconds(5));  // its close_timeout
    ASSERT_EQ(log_.Last(), "open");
  }
  EXPECT_EQ(Next().bytes.size(), std::size_t{15} << 20);
  EXPECT_EQ(Next().event, ReadEvent::kClose);
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

TEST_F(WebSocketDeadlines, AnEarlierMessageTakesNoTimeFromALaterOne) {
  options_.overflow = Overflow::kWait;
  options_.min_send_rate = std::uint64_t{1} << 40;  // so that no byte buys time
  std::size_t size = 5;
  then_ = [&size](WebSocket& socket) { socket.SendBinary(std::string(size, 'x')); };
  Start();
  SayHello();
  EXPECT_EQ(Next().bytes, "xxxxx");
  server_->Advance(seconds(29));
  size = 15 << 20;
  SayHello();
  server_->Advance(seconds(1));
  for (int i = 0; i < 27; ++i) {
    server_->Advance(seconds(1));
    ASSERT_EQ(log_.Last(), "hello") << i;
  }
  server_->Advance(seconds(2));
  EXPECT_TRUE(AwaitLast("close 1006 "));
}

TEST_F(WebSocketDeadlines, NeverMeansNever) {
  options_.ping_interval = options_.idle_timeout = options_.message_timeout = seconds(0);
  Start();
  client_->SendBytes(test::Masked(0x01, "begun"));
  server_->Advance(std::chrono::hours(1000));
  client_->Ping("only this");
  EXPECT_EQ(Next().event, ReadEvent::kPong);
}

// A client reads slowly, and the kernel holds the rest for it.
class WebSocketInTheKernel : public WebSocketDeadlines {
 protected:
  // Sends messages that the client doesn't read. The kernel takes all of them.
  void SendUnread() {
    server_->Loop().Ask([&] {
      fd_ = socket_->GetConnection().GetFd();
      for (int i = 0; i < 60; ++i) {
        socket_->SendBinary(std::string(10'000, 'x'));
      }
    });
    while (server_->Loop().Ask([&] { return socket_->UnsentBytes(); }) != 0) {
      ASSERT_EQ(Next().event, ReadEvent::kMessage);
    }
    ASSERT_NE(SendQueueBytes(fd_), 0U);
  }
  // Reads until the client's kernel has taken more.
  void ReadSome() {
    for (const std::uint32_t before = AcknowledgedBytes(fd_); AcknowledgedBytes(fd_) == before;) {
      ASSERT_EQ(Next().event, ReadEvent::kMessage);
    }
    ASSERT_NE(SendQueueBytes(fd_), 0U);
  }
  // Reads up to an event.
  void ReadUpTo(ReadEvent last) {
    WebSocketEvent event = Next();
    while (event.event == ReadEvent::kMessage) {
      event = Next();
    }
    ASSERT_EQ(event.event, last);
    ASSERT_TRUE(server_->Loop().Await([&] { return SendQueueBytes(fd_) == 0; }));
  }
  // Turns the clock until the client is given up. An acknowledgement may come late.
  void AwaitGivenUp(seconds timeout) {
    for (int i = 0; i < 4 && log_.Last() == "open"; ++i) {
      server_->Advance(timeout);
    }
    EXPECT_EQ(log_.Last(), "close 1006 ");
  }

  int fd_ = -1;  // the server's; after a reset, no socket
};

TEST_F(WebSocketInTheKernel, OneThatReadsIsNotSilentThoughItsPingWaits) {
  Start();
  SendUnread();
  server_->Advance(seconds(30));
  for (int i = 0; i < 2; ++i) {
    server_->Advance(seconds(29));
    ASSERT_NO_FATAL_FAILURE(ReadSome());
    server_->Advance(seconds(1));
    ASSERT_EQ(log_.Last(), "open") << i;
  }
  AwaitGivenUp(seconds(30));  // it reads no more
}

TEST_F(WebSocketInTheKernel, ThePingGetsItsTimeWhenItHasArrived) {
  Start();
  SendUnread();
  server_->Advance(seconds(30));
  ASSERT_NO_FATAL_FAILURE(ReadUpTo(ReadEvent::kPing));
  server_->Advance(seconds(30));  // it arrived somewhere in these
  EXPECT_EQ(log_.Last(), "open");
  server_->Advance(seconds(9));
  EXPECT_EQ(log_.Last(), "open");
  server_->Advance(seconds(1));
  EXPECT_TRUE(AwaitLast("close 1006 "));
}

TEST_F(WebSocketInTheKernel, OneThatReadsUpToTheCloseIsNotReset) {
  Start();
  SendUnread();
  server_->Loop().Ask([&] { socket_->Close(); });
  server_->Advance(seconds(5));
  for (int i = 0; i < 2; ++i) {
    ASSERT_NO_FATAL_FAILURE(ReadSome());
    server_->Advance(seconds(30));
    ASSERT_EQ(log_.Last(), "open") << i;
  }
  ASSERT_NO_FATAL_FAILURE(ReadUpTo(ReadEvent::kClose));
  AwaitGivenUp(seconds(30));  // it sends none itself
}

// Messages that come in slowly.
class WebSocketMessageTime : public WebSocketDeadlines {
 protected:
  // Sends bytes with a Ping before them, and waits until the server has read all.
  void Say(const std::string& bytes, const std::string& before = "") {
    client_->SendBytes(before + test::Masked(0x89, "do you have it?") + bytes);
    ASSERT_EQ(Next().event, ReadEvent::kPong);
  }
  void ExpectTooSlow() {
    const WebSocketEvent event = Next();
    EXPECT_EQ(event.event, ReadEvent::kClose);
    EXPECT_EQ(event.code, CloseCode::kPolicyViolation);
    EXPECT_EQ(event.bytes, "a message is sent too slowly");
    EXPECT_TRUE(AwaitLast("close 1008 a message is sent too slowly"));
  }

  const std::string fragment_ = test::Masked(0x01, "begun");
};

TEST_F(WebSocketMessageTime, AMessageThatDoesNotGoOnEnds) {
  for (const std::string& begun : {fragment_, fragment_.substr(0, 1), fragment_.substr(0, 8),
                                   test::Masked(0x8A, "pong").substr(0, 9)}) {
    Start();
    Say(begun);
    server_->Advance(seconds(29));
    EXPECT_EQ(log_.Last(), "open");
    server_->Advance(seconds(1));
    ExpectTooSlow();
  }
}

TEST_F(WebSocketMessageTime, PingsAndPongsWithinItDoNotExtendIt) {
  Start();
  const std::string pong = test::Masked(0x8A, std::string(125, 'x'));
  Say(fragment_ + pong.substr(0, 9));
  for (int i = 0; i < 3; ++i) {
    for (int each = 0; each < 100; ++each) {
      Say(pong.substr(0, 9), pong.substr(9));  // so that the clock always finds a part of one
    }
    server_->Advance(seconds(10));
  }
  ExpectTooSlow();
}

TEST_F(WebSocketMessageTime, OneThatKeepsTheRateMayTakeItsTime) {
  Start();
  Say(fragment_);
  for (int i = 0; i < 20; ++i) {
    Say(test::Masked(0x00, std::string(5000, 'x')));
    server_->Advance(seconds(10));
    ASSERT_EQ(log_.Last(), "open") << i;
  }
  client_->SendBytes(test::Masked(0x80, "."));
  EXPECT_TRUE(server_->Loop().Await([&] { return log_.Last().size() == 5 + 100'000 + 1; }));
}

TEST_F(WebSocketMessageTime, ItsBytesBuyTime) {
  options_.ping_interval = seconds(0);
  Start();
  Say(fragment_);
  Say(test::Masked(0x00, std::string(5000 - 8, 'x')));  // with its head, 10 seconds
  server_->Advance(seconds(30));
  server_->Advance(seconds(9));
  EXPECT_EQ(log_.Last(), "open");
  server_->Advance(seconds(1));
  ExpectTooSlow();
}

TEST_F(WebSocketMessageTime, EachMessageHasItsOwn) {
  Start();
  Say(fragment_);
  for (int i = 0; i < 5; ++i) {
    server_->Advance(seconds(20));
    Say(fragment_, test::Masked(0x80, ""));  // the next one begins in the same read
    ASSERT_EQ(log_.Last(), "begun") << i;
  }
}

TEST_F(WebSocketMessageTime, WhileNothingIsReadThereIsNone) {
  options_.overflow = Overflow::kWait;
  options_.write_timeout = seconds(0);
  Start();
  Say(fragment_);
  server_->Loop().Ask([&] { socket_->SendBinary(std::string(15 << 20, 'x')); });
  server_->Advance(seconds(100));
  EXPECT_EQ(log_.Last(), "open");
  EXPECT_EQ(Next().event, ReadEvent::kMessage);
  Say("");
  server_->Advance(seconds(30));
  ExpectTooSlow();
}

TEST_F(WebSocketMessageTime, BetweenMessagesThereIsNone) {
  options_.deflate.client_takeover = true;  // so the reader is kept
  options_.idle_timeout = seconds(1000);
  WebSocketClientOptions options;
  options.extensions = "permessage-deflate";
  Start(options);
  SayHello();
  const std::string ping = test::Masked(0x89, "in two pieces");
  client_->SendBytes(ping.substr(0, 1));
  client_->SendBytes(ping.substr(1));
  EXPECT_EQ(Next().event, ReadEvent::kPong);
  server_->Advance(seconds(30));
  EXPECT_EQ(Next().event, ReadEvent::kPing);
  SayHello();
  Say(fragment_);
  server_->Advance(seconds(30));
  ExpectTooSlow();
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
  server_->Advance(seconds(20));  // it reads slowly, so this takes longer than the close_timeout
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
