// A message in a steady state allocates nothing, however it is cut.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "support/counting_new.h"
#include "support/running_server.h"
#include "web/http_server.h"
#include "websocket/websocket.h"
#include "websocket/websocket_client.h"
#include "websocket/websocket_options.h"

namespace TURTLE_SERVER {
namespace {

// Echoes `rounds` messages of `size` bytes. @return how often the loop has allocated memory
auto Allocations(const char* extensions, std::size_t size, bool fragmented) -> std::size_t {
  WebSocketHandlers echo;
  echo.on_message = [](WebSocket& socket, const Message& message) {
    socket.Send(message.kind, message.bytes);
  };
  test::RunningServer server([&](HttpServer& http) { http.WebSocket("/", echo); });
  WebSocketClientOptions options;
  options.extensions = extensions;
  WebSocketClient client(NetAddress("127.0.0.1", static_cast<std::uint16_t>(server.Port())),
                         options);
  EXPECT_EQ(client.Deflate().has_value(), !options.extensions.empty());
  const std::string text(size, 'x');
  const auto round = [&] {
    if (fragmented) {
      FrameHead head;
      head.opcode = Opcode::kText;
      head.last = false;
      client.SendFrame(head, text);
      head.opcode = Opcode::kContinuation;
      head.last = true;
      client.SendFrame(head, text);
    } else {
      client.SendText(text);
    }
    const auto event = client.Receive();
    return event && event->bytes.size() == (fragmented ? 2 * size : size);
  };
  for (int i = 0; i < 20; ++i) {
    if (!round()) {
      ADD_FAILURE() << "no echo";
      return 0;
    }
  }
  server.Ask([] { test::counts_allocations = true; });
  test::allocations = 0;
  for (int i = 0; i < 50; ++i) {
    EXPECT_TRUE(round());
  }
  const std::size_t counted = test::allocations;
  server.Ask([] { test::counts_allocations = false; });
  return counted;
}

TEST(WebSocketAllocations, ShortMessagesNeedNone) { EXPECT_EQ(Allocations("", 64, false), 0U); }

TEST(WebSocketAllocations, LongMessagesNeedNone) { EXPECT_EQ(Allocations("", 60'000, false), 0U); }

TEST(WebSocketAllocations, FragmentsNeedNone) { EXPECT_EQ(Allocations("", 1000, true), 0U); }

TEST(WebSocketAllocations, CompressedMessagesNeedNone) {
  EXPECT_EQ(Allocations("permessage-deflate", 10'000, false), 0U);
}

}  // namespace
}  // namespace TURTLE_SERVER
