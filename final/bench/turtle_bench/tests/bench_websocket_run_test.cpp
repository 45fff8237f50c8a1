// Whole runs with messages over WebSocket, against a server that echoes and others that don't.
#include <gtest/gtest.h>

#include <string>

#include "bench/load_run.h"
#include "support/bench_run.h"
#include "support/running_server.h"
#include "web/http_server.h"
#include "websocket/websocket.h"

namespace TURTLE_SERVER {
namespace {

using test::Enough;
using test::ExpectGood;
using test::RunWith;

class WebSocketRunTest : public testing::Test {
 protected:
  static constexpr int kMessages = 200;

  void Serve(HttpServer& server) {
    WebSocketHandlers echo;
    echo.on_message = [this](WebSocket& socket, const Message& message) {
      sizes_right_ = sizes_right_ && message.bytes.size() == *options_.websocket;
      socket.Send(message.kind, spoils_ ? std::to_string(++count_) : message.bytes);
      enough_.Count();
    };
    server.WebSocket("/echo", echo);
  }

  static auto Options(int port) -> BenchOptions {
    BenchOptions options;
    options.url_text = "http://127.0.0.1:" + std::to_string(port) + "/echo";
    options.url = ParseUrl(options.url_text);
    options.connections = 4;
    options.websocket = 64;
    options.time = test::kPatience;
    options.json = "-";
    options.quiet = true;
    return options;
  }

  bool spoils_ = false;
  bool sizes_right_ = true;
  int count_ = 0;
  Enough enough_{kMessages};
  test::RunningServer server_{[this](HttpServer& server) { Serve(server); }};
  BenchOptions options_ = Options(server_.Port());
};

TEST_F(WebSocketRunTest, ShortMessages) {
  ExpectGood(RunWith(options_), kMessages);
  EXPECT_TRUE(sizes_right_);
}

TEST_F(WebSocketRunTest, LongMessages) {
  options_.websocket = 65536;
  ExpectGood(RunWith(options_), kMessages);
  EXPECT_TRUE(sizes_right_);
}

TEST_F(WebSocketRunTest, AnotherMessageIsAnError) {
  spoils_ = true;
  EXPECT_GT(RunWith(options_).Number("errors.mismatch"), 0);
}

}  // namespace
}  // namespace TURTLE_SERVER
