// Messages for many, on several loops.
#include "websocket/topics.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/client.h"
#include "support/gate.h"
#include "support/running_server.h"
#include "web/http_server.h"
#include "websocket/websocket_client.h"
#include "websocket/websocket_options.h"

namespace TURTLE_SERVER {
namespace {

class TopicsTest : public testing::Test {
 protected:
  // "+name" subscribes, "-name" unsubscribes, anything else is published in "room"; "!" and a text
  // for all but the sender.
  static void Act(const Topics& topics, WebSocket& socket, std::string_view text) {
    if (text[0] == '+') {
      topics.Subscribe(socket, text.substr(1));
      socket.SendText("ok");
    } else if (text[0] == '-') {
      socket.SendText(topics.Unsubscribe(socket, text.substr(1)) ? "ok" : "no");
    } else if (text[0] == '!') {
      topics.Publish("room", MessageKind::kText, text.substr(1), &socket);
    } else {
      topics.Publish("room", MessageKind::kText, text);
    }
  }

  auto Connect(const char* extensions = "") -> WebSocketClient& {
    WebSocketClientOptions options;
    options.extensions = extensions;
    clients_.push_back(std::make_unique<WebSocketClient>(
        NetAddress("127.0.0.1", static_cast<std::uint16_t>(server_.Port())), options));
    return *clients_.back();
  }
  static auto Ask(WebSocketClient& client, std::string_view text) -> std::string {
    client.SendText(text);
    return Next(client);
  }
  static auto Next(WebSocketClient& client) -> std::string {
    const auto event = client.Receive();
    return event && event->event == ReadEvent::kMessage ? event->bytes : "nothing";
  }
  auto AwaitCount(std::size_t count) -> bool {
    return server_.Await([&] { return topics_.Count("room") == count; });
  }

  Topics topics_;
  test::RunningServer server_{[this](HttpServer& server) {
                                WebSocketHandlers handlers;
                                handlers.on_message = [topics = topics_](WebSocket& socket,
                                                                         const Message& message) {
                                  Act(topics, socket, message.bytes);
                                };
                                WebSocketOptions options;
                                options.deflate.server_takeover = true;
                                server.WebSocket("/", handlers, options);
                              },
                              HttpOptions(), 3};
  std::vector<std::unique_ptr<WebSocketClient>> clients_;
};

TEST_F(TopicsTest, AMessageReachesAllSubscribersOnAllLoops) {
  for (int i = 0; i < 9; ++i) {
    EXPECT_EQ(Ask(Connect(), "+room"), "ok");
  }
  WebSocketClient& stranger = Connect();
  EXPECT_EQ(topics_.Count("room"), 9U);
  stranger.SendText("hello, all");
  for (int i = 0; i < 9; ++i) {
    ASSERT_EQ(Next(*clients_[static_cast<std::size_t>(i)]), "hello, all");
  }
  EXPECT_EQ(Ask(stranger, "-room"), "no");  // and it got no message before that
}

TEST_F(TopicsTest, ASenderMayLeaveItselfOut) {
  for (int i = 0; i < 9; ++i) {
    EXPECT_EQ(Ask(Connect(), "+room"), "ok");
  }
  clients_[0]->SendText("!hello, you others");
  for (int i = 1; i < 9; ++i) {
    ASSERT_EQ(Next(*clients_[static_cast<std::size_t>(i)]), "hello, you others");
  }
  EXPECT_EQ(Ask(*clients_[0], "-nothing"), "no");  // and it got no message before that
}

TEST_F(TopicsTest, AnyThreadMayPublishAndItsOrderHolds) {
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(Ask(Connect(), "+room"), "ok");
  }
  std::thread other([&] {
    for (int i = 0; i < 100; ++i) {
      topics_.Publish("room", MessageKind::kText, std::to_string(i));
    }
  });
  other.join();
  for (const auto& client : clients_) {
    for (int i = 0; i < 100; ++i) {
      ASSERT_EQ(Next(*client), std::to_string(i));
    }
  }
}

TEST_F(TopicsTest, CompressedAndPlainSubscribersGetTheSame) {
  EXPECT_EQ(Ask(Connect(), "+room"), "ok");
  EXPECT_EQ(Ask(Connect("permessage-deflate"), "+room"), "ok");
  EXPECT_EQ(Ask(Connect("permessage-deflate; server_max_window_bits=9"), "+room"), "ok");
  const std::string text(10'000, 'x');
  for (int i = 0; i < 3; ++i) {  // with a context, messages for one and for all take turns
    topics_.Publish("room", MessageKind::kText, text);
    for (const auto& client : clients_) {
      ASSERT_TRUE(Next(*client) == text);
      EXPECT_EQ(Ask(*client, "-" + text), "no");
    }
  }
}

TEST_F(TopicsTest, AShortMessageIsNotCompressed) {
  constexpr int kCompressed = 0x40;  // RSV1
  WebSocketClient& client = Connect("permessage-deflate");
  EXPECT_EQ(Ask(client, "+room"), "ok");
  for (const auto& [size, expected] : {std::pair(127, 0), std::pair(128, kCompressed)}) {
    topics_.Publish("room", MessageKind::kText, std::string(static_cast<std::size_t>(size), 'x'));
    pollfd arrived{client.GetSocket().GetFd(), POLLIN, 0};
    ASSERT_EQ(::poll(&arrived, 1, static_cast<int>(test::kPatience.count())), 1);
    char first = 0;
    ASSERT_EQ(::recv(arrived.fd, &first, 1, MSG_PEEK), 1);
    EXPECT_EQ(first & kCompressed, expected) << size;
    EXPECT_EQ(Next(client).size(), static_cast<std::size_t>(size));
  }
}

TEST_F(TopicsTest, ASubscriptionEndsWithItsSocketOrBefore) {
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(Ask(Connect(), "+room"), "ok");
    EXPECT_EQ(Ask(*clients_.back(), "+other"), "ok");
  }
  EXPECT_EQ(Ask(*clients_[1], "+room"), "ok");  // a second time
  EXPECT_EQ(topics_.Count("room"), 5U);
  EXPECT_EQ(Ask(*clients_[0], "-room"), "ok");
  EXPECT_EQ(Ask(*clients_[0], "-room"), "no");
  EXPECT_EQ(topics_.Count("room"), 4U);
  clients_.erase(clients_.begin() + 1, clients_.begin() + 3);
  EXPECT_TRUE(AwaitCount(2));
  topics_.Publish("room", MessageKind::kBinary, "left");
  ASSERT_EQ(Next(*clients_[1]), "left");
  EXPECT_EQ(Next(*clients_[2]), "left");
  EXPECT_EQ(Ask(*clients_[0], "-nothing"), "no");
  clients_.clear();
  EXPECT_TRUE(AwaitCount(0));
}

TEST_F(TopicsTest, WithoutSubscribersNothingHappens) {
  topics_.Publish("room", MessageKind::kText, "hello");
  EXPECT_EQ(topics_.Count("room"), 0U);
}

// A loop that does something else, and a thread that publishes more than it should keep.
TEST(TopicsBehindALoop, WhatTheLoopDoesNotTakeIsNotKept) {
  constexpr std::size_t kSize = std::size_t{64} * 1024;
  constexpr std::size_t kCount = 400;
  const Topics topics;
  test::Gate gate;
  test::RunningServer server([&](HttpServer& http) {
    WebSocketHandlers handlers;
    handlers.on_open = [topics](WebSocket& socket) { topics.Subscribe(socket, "room"); };
    WebSocketOptions options;
    options.high_water = 2 * kSize * kCount;  // the clients themselves are quick enough
    http.WebSocket("/all", handlers, options);
    options.overflow = Overflow::kDrop;
    http.WebSocket("/some", handlers, options);
  });
  WebSocketClientOptions target;
  const NetAddress address("127.0.0.1", static_cast<std::uint16_t>(server.Port()));
  target.target = "/all";
  WebSocketClient all(address, target);
  target.target = "/some";
  WebSocketClient some(address, target);
  ASSERT_TRUE(server.Await([&] { return topics.Count("room") == 2; }));

  const test::OpensAtEnd opens(gate);
  ASSERT_TRUE(server.GetLooper().Post([&] { gate.Pass(); }));
  ASSERT_TRUE(gate.AwaitArrivals(1));
  for (std::size_t i = 0; i < kCount; ++i) {
    std::string bytes = std::to_string(i);
    bytes.resize(kSize, ' ');
    topics.Publish("room", MessageKind::kBinary, bytes);
  }
  gate.Open();
  server.Settle();
  topics.Publish("room", MessageKind::kBinary, "after");

  for (WebSocketClient* const client : {&all, &some}) {
    std::size_t count = 0;
    auto event = client->Receive();
    for (; event && event->event == ReadEvent::kMessage && event->bytes != "after"; ++count) {
      ASSERT_EQ(std::stoul(event->bytes), count);
      event = client->Receive();
    }
    EXPECT_GT(count, 0U);
    EXPECT_LT(count, kCount);
    ASSERT_TRUE(event);
    if (client == &all) {
      EXPECT_EQ(event->event, ReadEvent::kClose);
      EXPECT_EQ(event->code, CloseCode::kPolicyViolation);
    } else {
      EXPECT_EQ(event->bytes, "after");
    }
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
