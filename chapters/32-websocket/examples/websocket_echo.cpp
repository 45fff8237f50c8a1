// Sends every message back, over WebSocket: text as text, bytes as bytes, compressed if the client
// offers that.
//
//   websocket_echo [--port N] [--tls CERTIFICATE KEY] [--takeover] [--threads N]
//
// Port 20080 is the default, and 0 is any free one. The address is ws://localhost:20080/, or wss://
// with --tls. With --takeover, a compressed message may refer to earlier ones.
#include <charconv>
#include <cstdint>
#include <exception>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "tls/tls.h"
#include "web/http_server.h"
#include "websocket/websocket.h"
#include "websocket/websocket_options.h"

namespace {

struct Arguments {
  std::uint16_t port = 20080;
  std::uint16_t threads = 1;
  std::string certificate;
  std::string key;
  bool takeover = false;
};

auto ParseNumber(std::string_view text) -> std::uint16_t {
  std::uint16_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw std::invalid_argument("\"" + std::string(text) + "\": not 0 to 65535");
  }
  return number;
}

auto ParseArguments(int argc, char** argv) -> Arguments {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--takeover") {
      arguments.takeover = true;
    } else if (name == "--port" && i + 1 < argc) {
      arguments.port = ParseNumber(argv[++i]);
    } else if (name == "--threads" && i + 1 < argc) {
      arguments.threads = ParseNumber(argv[++i]);
    } else if (name == "--tls" && i + 2 < argc) {
      arguments.certificate = argv[++i];
      arguments.key = argv[++i];
    } else {
      throw std::invalid_argument(
          "usage: websocket_echo [--port N] [--tls CERTIFICATE KEY] [--takeover] [--threads N]");
    }
  }
  return arguments;
}

auto OptionsFor(const Arguments& arguments) -> turtle::WebSocketOptions {
  constexpr std::size_t kMostBytes = std::size_t{64} << 20;
  turtle::WebSocketOptions options;
  options.max_message_bytes = kMostBytes;
  options.max_fragments = kMostBytes / 64;
  options.overflow = turtle::Overflow::kWait;  // the echo of a long message is as long
  options.max_unsent_bytes = 2 * kMostBytes;
  options.deflate.server_takeover = arguments.takeover;
  options.deflate.client_takeover = arguments.takeover;
  options.deflate.min_bytes = 0;
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Arguments arguments = ParseArguments(argc, argv);
    std::optional<turtle::Tls> tls;
    turtle::ServerOptions server_options;
    server_options.threads = arguments.threads;
    if (!arguments.certificate.empty()) {
      turtle::TlsOptions tls_options;
      tls_options.certificates = {{arguments.certificate, arguments.key}};
      tls.emplace(tls_options);
      server_options.channel = tls->Channels();
    }
    turtle::HttpServer server(turtle::NetAddress("127.0.0.1", arguments.port), {}, server_options);
    turtle::WebSocketHandlers echo;
    echo.on_message = [](turtle::WebSocket& socket, const turtle::Message& message) {
      socket.Send(message.kind, message.bytes);
    };
    server.WebSocket("/", echo, OptionsFor(arguments));
    server.StopOnSignals();
    std::cout << (tls ? "wss" : "ws") << "://localhost:" << server.LocalAddress().Port() << "/"
              << std::endl;
    server.Begin();
  } catch (const std::exception& error) {
    std::cerr << "websocket_echo: " << error.what() << '\n';
    return 1;
  }
}
