// A server of WebSockets whose limits and timeouts are options: to try them, and for tests, whose
// clients can't wait half a minute for a Ping.
//
//   websocket_room [--NAME VALUE]...
//
// It listens on any free port. Timeouts are in milliseconds. With --certificate and --key, clients
// have TLS.
//
//    WebSocket /echo      sends each message back
//    WebSocket /room      sends each message to everyone in the room
//    WebSocket /close     closes with the code that a message names
//    GET /counts          the sockets so far, as JSON: {"open":1,"room":0,"closed":{"1001":2}};
//                         "room" counts the calls of on_room
#include <charconv>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "base/mutex.h"
#include "tls/tls.h"
#include "web/http_server.h"
#include "websocket/topics.h"
#include "websocket/websocket.h"
#include "websocket/websocket_options.h"

namespace {

using turtle::CloseCode;
using turtle::Message;
using turtle::WebSocket;

struct Settings {
  turtle::WebSocketOptions sockets;
  turtle::ServerOptions server;
  std::string certificate;
  std::string key;
};

auto ParseNumber(std::string_view text) -> std::uint32_t {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw std::invalid_argument("\"" + std::string(text) + "\": not a number");
  }
  return number;
}

auto ParseOverflow(std::string_view text) -> turtle::Overflow {
  if (text == "close") {
    return turtle::Overflow::kClose;
  }
  if (text == "drop") {
    return turtle::Overflow::kDrop;
  }
  if (text == "wait") {
    return turtle::Overflow::kWait;
  }
  throw std::invalid_argument("--overflow: close, drop or wait");
}

auto ParseArguments(int argc, char** argv) -> Settings {
  Settings all;
  turtle::WebSocketOptions& sockets = all.sockets;
  const auto number = [](auto& into) {
    return [&into](std::string_view text) { into = ParseNumber(text); };
  };
  const auto timeout = [](std::chrono::milliseconds& into) {
    return [&into](std::string_view text) { into = std::chrono::milliseconds(ParseNumber(text)); };
  };
  const auto text = [](std::string& into) {
    return [&into](std::string_view word) { into = word; };
  };
  const std::map<std::string_view, std::function<void(std::string_view)>> options = {
      {"--threads", number(all.server.threads)},
      {"--stop-timeout", timeout(all.server.stop_timeout)},
      {"--certificate", text(all.certificate)},
      {"--key", text(all.key)},
      {"--origin", [&](std::string_view origin) { sockets.origins.emplace_back(origin); }},
      {"--protocol", [&](std::string_view name) { sockets.protocols.emplace_back(name); }},
      {"--max-message", number(sockets.max_message_bytes)},
      {"--max-fragments", number(sockets.max_fragments)},
      {"--high-water", number(sockets.high_water)},
      {"--max-unsent", number(sockets.max_unsent_bytes)},
      {"--overflow", [&](std::string_view word) { sockets.overflow = ParseOverflow(word); }},
      {"--ping-interval", timeout(sockets.ping_interval)},
      {"--pong-timeout", timeout(sockets.pong_timeout)},
      {"--idle-timeout", timeout(sockets.idle_timeout)},
      {"--close-timeout", timeout(sockets.close_timeout)},
      {"--write-timeout", timeout(sockets.write_timeout)},
      {"--message-timeout", timeout(sockets.message_timeout)},
  };
  for (int i = 1; i < argc; i += 2) {
    const auto found = options.find(argv[i]);
    if (found == options.end() || i + 1 == argc) {
      throw std::invalid_argument(std::string(argv[i]) + ": no such option, or no value");
    }
    found->second(argv[i + 1]);
  }
  return all;
}

// Counts events of the sockets of all loops.
class Counts {
 public:
  void Open() {
    const turtle::MutexLock lock(mutex_);
    ++open_;
  }

  void Room() {
    const turtle::MutexLock lock(mutex_);
    ++room_;
  }

  void Close(CloseCode code) {
    const turtle::MutexLock lock(mutex_);
    --open_;
    ++closed_[static_cast<std::uint16_t>(code)];
  }

  [[nodiscard]] auto Text() const -> std::string {
    const turtle::MutexLock lock(mutex_);
    std::string text = "{\"open\":" + std::to_string(open_) + ",\"room\":" + std::to_string(room_) +
                       ",\"closed\":{";
    for (const auto& [code, count] : closed_) {
      text += text.back() == '{' ? "\"" : ",\"";
      text += std::to_string(code) + "\":" + std::to_string(count);
    }
    return text + "}}";
  }

 private:
  mutable turtle::Mutex mutex_;
  int open_ TURTLE_GUARDED_BY(mutex_) = 0;
  int room_ TURTLE_GUARDED_BY(mutex_) = 0;
  std::map<int, int> closed_ TURTLE_GUARDED_BY(mutex_);  // by code
};

using OnMessage = std::function<void(WebSocket&, const Message&)>;

auto Counted(Counts& counts, OnMessage on_message) -> turtle::WebSocketHandlers {
  turtle::WebSocketHandlers handlers;
  handlers.on_open = [&counts](WebSocket&) { counts.Open(); };
  handlers.on_message = std::move(on_message);
  handlers.on_room = [&counts](WebSocket&) { counts.Room(); };
  handlers.on_close = [&counts](WebSocket&, CloseCode code, std::string_view) {
    counts.Close(code);
  };
  return handlers;
}

auto Room(Counts& counts) -> turtle::WebSocketHandlers {
  const turtle::Topics topics;
  turtle::WebSocketHandlers room = Counted(counts, [topics](WebSocket&, const Message& message) {
    topics.Publish("room", message.kind, message.bytes);
  });
  room.on_open = [topics, &counts](WebSocket& socket) {
    counts.Open();
    topics.Subscribe(socket, "room");
  };
  return room;
}

void CloseAsTold(WebSocket& socket, const Message& message) {
  socket.Close(static_cast<CloseCode>(ParseNumber(message.bytes)), "as you wish");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    Settings settings = ParseArguments(argc, argv);
    std::optional<turtle::Tls> tls;
    if (!settings.certificate.empty()) {
      turtle::TlsOptions tls_options;
      tls_options.certificates = {{settings.certificate, settings.key}};
      tls.emplace(tls_options);
      settings.server.channel = tls->Channels();
    }
    Counts counts;
    turtle::HttpServer server(turtle::NetAddress("127.0.0.1", 0), {}, settings.server);
    server.Get("/counts",
               [&counts](const turtle::ServerRequest&, turtle::ServerResponse& response) {
                 response.Body(counts.Text(), "application/json");
               });
    server.WebSocket(
        "/echo",
        Counted(counts, [](WebSocket& socket,
                           const Message& message) { socket.Send(message.kind, message.bytes); }),
        settings.sockets);
    server.WebSocket("/room", Room(counts), settings.sockets);
    server.WebSocket("/close", Counted(counts, CloseAsTold), settings.sockets);
    server.StopOnSignals();
    std::cout << "ws://127.0.0.1:" << server.LocalAddress().Port() << "/" << std::endl;
    server.Begin();
  } catch (const std::exception& error) {
    std::cerr << "websocket_room: " << error.what() << '\n';
    return 1;
  }
}
