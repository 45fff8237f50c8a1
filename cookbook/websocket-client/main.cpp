// Sends texts over WebSocket, and prints those that come: websocket_client PORT TARGET [TEXT…]
#include <exception>
#include <iostream>
#include <stdexcept>

#include <turtle/base/argument.h>
#include <turtle/websocket/websocket_client.h>

using namespace turtle;

auto main(int argc, char** argv) -> int try {
  if (argc < 3) {
    std::cerr << "usage: websocket_client PORT TARGET [TEXT…]\n";
    return 2;
  }
  const NetAddress server("127.0.0.1", ReadPort(argv[1]));
  WebSocketClientOptions options;
  options.target = argv[2];
  WebSocketClient client(server, options);
  std::cout << "connected" << std::endl;
  for (int i = 3; i < argc; ++i) {
    client.SendText(argv[i]);
  }
  for (;;) {
    const auto event = client.Receive();  // it also answers the server's Pings
    if (event && event->event != ReadEvent::kMessage) {
      std::cout << "closed: " << static_cast<int>(event->code) << ' ' << event->bytes << std::endl;
      return 0;
    }
    if (event) {
      std::cout << event->bytes << std::endl;
    }
  }
} catch (const std::invalid_argument& error) {
  std::cerr << "websocket_client: " << error.what() << '\n';
  return 2;
} catch (const std::exception& error) {
  std::cerr << "websocket_client: " << error.what() << '\n';
  return 1;
}
