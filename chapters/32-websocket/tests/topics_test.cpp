// Messages for many, on several loops.
#include "websocket/topics.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "support/running_server.h"
#include "web/http_server.h"
#include "websocket/websocket_client.h"
#include "websocket/websocket_options.h"

namespace TURTLE_SERVER {
namespace {

class TopicsTest : public testing::Test {
 protected:
  // "+name" subscribes, "-name" unsubscribes, anything else is published in "room".
  static void Act(const Topics& topics, WebSocket& socket, std::string_view text) {
    if (text[0] == '+') {
      topics.Subscribe(socket, text.substr(1));
      socket.SendText("ok");
    } else if (text[0] == '-') {
      socket.SendText(topics.Unsubscribe(socket, text.substr(1)) ? "ok" : "no");
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

}  // namespace
}  // namespace TURTLE_SERVER
