// A guest of a chat must not have to ask again and again whether somebody has said something.
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "support/client.h"
#include "support/http_client.h"
#include "support/running_server.h"
#if __has_include("websocket/websocket.h")
#include <vector>

#include "support/frames.h"
#include "websocket/websocket.h"
#endif

namespace TURTLE_SERVER {
namespace {

#if __has_include("websocket/websocket.h")

// Sends each line to every guest.
void Open(HttpServer& server) {
  const auto guests = std::make_shared<std::vector<WebSocket*>>();
  WebSocketHandlers chat;
  chat.on_open = [guests](WebSocket& socket) { guests->push_back(&socket); };
  chat.on_message = [guests](WebSocket& /*speaker*/, const Message& message) {
    for (WebSocket* const each : *guests) {
      each->SendText(message.bytes);
    }
  };
  server.WebSocket("/chat", chat);
}

class Guest {
 public:
  explicit Guest(int port) : line_(port) {
    line_.Send(
        test::Get("/chat",
                  "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"));
    std::string head;
    for (std::string byte = " "; !byte.empty() && head.find("\r\n\r\n") == std::string::npos;) {
      byte = line_.Receive(1);
      head += byte;
    }
  }

  void Wait() {}

  void Say(std::string_view text) {
    const std::string frame = test::Masked(0x81, text);
    bytes_ += frame.size();
    line_.Send(frame);
  }

  auto Hear(std::size_t size) -> std::string {
    const std::string frame = line_.Receive(2 + size);
    bytes_ += frame.size();
    return frame.size() > 2 ? frame.substr(2) : "";
  }

  // Returns how many bytes have crossed the network.
  [[nodiscard]] auto Bytes() const -> std::size_t { return bytes_; }

 private:
  test::Client line_;
  std::size_t bytes_ = 0;
};

#else

// Keeps what was said last.
void Open(HttpServer& server) {
  const auto last = std::make_shared<std::string>();
  server.Mount("/chat", test::Answering([last](Exchange& exchange) {
                 if (exchange.GetRequest().method == Method::kGet) {
                   exchange.Reply(TextResponse(200, *last));
                 } else {
                   *last = exchange.GetRequest().uri.Query();
                   exchange.Reply(Response(204));
                 }
               }));
}

class Guest {
 public:
  explicit Guest(int port) : line_(port) {}

  void Wait() { Ask(test::Get("/chat")); }

  void Say(std::string_view text) {
    std::string request("PUT /chat?");
    Ask(request.append(text).append(" HTTP/1.1\r\nHost: t\r\nContent-Length: 0\r\n\r\n"));
  }

  auto Hear(std::size_t /*size*/) -> std::string { return Ask(test::Get("/chat")); }

  [[nodiscard]] auto Bytes() const -> std::size_t { return bytes_; }

 private:
  auto Ask(std::string_view request) -> std::string {
    const test::HttpReply reply = line_.Ask(request);
    bytes_ += request.size() + reply.head.size() + reply.body.size();
    return reply.body;
  }

  test::HttpClient line_;
  std::size_t bytes_ = 0;
};

#endif

TEST(PolledChat, CostsNothingWhileNobodySpeaks) {
  const test::RunningServer server(Open);
  Guest ann(server.Port());
  Guest ben(server.Port());
  for (int seconds = 0; seconds < 10; ++seconds) {
    ben.Wait();
  }
  ann.Say("hi");
  ASSERT_EQ(ben.Hear(2), "hi");
  EXPECT_LT(ann.Bytes() + ben.Bytes(), 100U) << "for a line of two bytes";
}

}  // namespace
}  // namespace TURTLE_SERVER
