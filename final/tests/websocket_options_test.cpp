// Limits that can't be meant are refused before the server begins.
#include "websocket/websocket_options.h"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>

namespace TURTLE_SERVER {
namespace {

using std::chrono::milliseconds;

// Returns why they are refused, or "".
auto Refusal(const WebSocketOptions& options) -> std::string {
  try {
    static_cast<void>(Checked(options));
    return "";
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

TEST(WebSocketOptionsTest, TheDefaultsAreAccepted) { EXPECT_EQ(Refusal({}), ""); }

TEST(WebSocketOptionsTest, ANegativeTimeoutIsRefused) {
  WebSocketOptions options;
  for (auto& [timeout, name] : {std::pair(&options.ping_interval, "ping_interval"),
                                {&options.pong_timeout, "pong_timeout"},
                                {&options.idle_timeout, "idle_timeout"},
                                {&options.close_timeout, "close_timeout"},
                                {&options.write_timeout, "write_timeout"},
                                {&options.message_timeout, "message_timeout"}}) {
    *timeout = milliseconds(-1);
    EXPECT_EQ(Refusal(options), std::string(name) + ": -1 ms is negative");
    *timeout = milliseconds(0);
    EXPECT_EQ(Refusal(options), "");
  }
}

TEST(WebSocketOptionsTest, AQueueBelowItsHighWaterMarkIsRefused) {
  WebSocketOptions options;
  options.overflow = Overflow::kWait;
  options.high_water = 500'000;
  options.max_unsent_bytes = 500'000;
  EXPECT_EQ(Refusal(options), "");
  options.max_unsent_bytes = 499'999;
  EXPECT_EQ(Refusal(options), "max_unsent_bytes: 499999 is less than high_water, 500000");
  options.high_water = 1;  // the connection's mark counts
  EXPECT_EQ(Refusal(options), "");
  EXPECT_EQ(Checked(options).high_water, Connection::kHighWater);
  options.max_unsent_bytes = 1;
  EXPECT_EQ(Refusal(options), "max_unsent_bytes: 1 is less than high_water, 262144");
  options.overflow = Overflow::kClose;  // it has no such queue
  EXPECT_EQ(Refusal(options), "");
}

TEST(WebSocketOptionsTest, ASubprotocolIsAToken) {
  WebSocketOptions options;
  options.protocols = {"v1.chat", "soap+xml"};
  EXPECT_EQ(Refusal(options), "");
  for (const char* const wrong : {"", "two words", "a,b", "v1;", "\xC3\xA9", "a\r\nb"}) {
    options.protocols = {"v1", wrong};
    EXPECT_EQ(Refusal(options), "protocols: \"" + std::string(wrong) + "\" is not a token");
  }
}

TEST(WebSocketOptionsTest, AWindowHas8To15Bits) {
  WebSocketOptions options;
  options.deflate.client_window_bits = 7;
  EXPECT_EQ(Refusal(options), "window of 7 bits: not 8 to 15");
  options.deflate.client_window_bits = 8;
  options.deflate.server_window_bits = 16;
  EXPECT_EQ(Refusal(options), "window of 16 bits: not 8 to 15");
}

}  // namespace
}  // namespace TURTLE_SERVER
