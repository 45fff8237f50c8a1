// A chat in the browser: every line reaches all guests, on every loop and in a second process.
//
//   web_chat [--port N] [--peer PORT --key WORD] [--pages FOLDER]
//
// Port 20080 is the default, and 0 is any free one. Two processes that name each other's port as
// --peer, with the same --key, are one room: put a proxy before them. FOLDER has the page's files;
// by default web_chat_page beside the program.
//
//    GET /                the page
//    WebSocket /chat      guests, named by "?name=…"
//    WebSocket /relay     the other process, which knows the key
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "http/form.h"
#include "http/http_error.h"
#include "web/exchange.h"
#include "web/http_server.h"
#include "websocket/topics.h"
#include "websocket/utf8.h"
#include "websocket/websocket.h"
#include "websocket/websocket_client.h"
#include "websocket/websocket_options.h"

namespace {

using turtle::Exchange;
using turtle::Message;
using turtle::MessageKind;
using turtle::Topics;
using turtle::WebSocket;

constexpr const char* kRoom = "room";    // the guests of this process
constexpr const char* kRelay = "relay";  // the other process
constexpr std::size_t kMaxLine = 1024;

struct Arguments {
  std::uint16_t port = 20080;
  std::uint16_t peer = 0;  // 0: none
  std::string key;
  std::string pages;
};

auto ParsePort(std::string_view text) -> std::uint16_t {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw std::invalid_argument("port \"" + std::string(text) + "\": not 0 to 65535");
  }
  return port;
}

auto ParseArguments(int argc, char** argv) -> Arguments {
  Arguments arguments;
  arguments.pages = std::filesystem::path(argv[0]).parent_path() / "web_chat_page";
  for (int i = 1; i < argc; i += 2) {
    const std::string_view name = argv[i];
    const std::string_view value = i + 1 < argc ? argv[i + 1] : "";
    if (name == "--port") {
      arguments.port = ParsePort(value);
    } else if (name == "--peer") {
      arguments.peer = ParsePort(value);
    } else if (name == "--key" && !value.empty()) {
      arguments.key = value;
    } else if (name == "--pages" && !value.empty()) {
      arguments.pages = value;
    } else {
      throw std::invalid_argument(
          "usage: web_chat [--port N] [--peer PORT --key WORD] [--pages FOLDER]");
    }
  }
  if (arguments.peer != 0 && arguments.key.empty()) {
    throw std::invalid_argument("--peer without --key: any program could write to the room");
  }
  return arguments;
}

// Returns the guest's name. The others get it in a text, so it must be UTF-8: a browser ends a
// WebSocket on which another text arrives.
auto NameOf(Exchange& exchange) -> std::shared_ptr<void> {
  constexpr std::size_t kMaxName = 80;  // 20 of the page's characters
  turtle::Form query;
  if (query.Parse(exchange.GetRequest().uri.Query())) {
    throw turtle::HttpError(400);
  }
  const std::string name(query.Find("name").value_or(""));
  turtle::Utf8Validator utf8;
  if (name.empty() || name.size() > kMaxName || !utf8.Add(name) || !utf8.IsComplete()) {
    throw turtle::HttpError(400, "?name= has 1 to 80 bytes of UTF-8");
  }
  return std::make_shared<std::string>(name);
}

// Sends a line to all guests, here and there.
void Say(const Topics& topics, const std::string& line) {
  topics.Publish(kRoom, MessageKind::kText, line);
  topics.Publish(kRelay, MessageKind::kText, line);
}

auto Guests(const Topics& topics) -> turtle::WebSocketHandlers {
  turtle::WebSocketHandlers guests;
  guests.on_request = NameOf;
  guests.on_open = [topics](WebSocket& socket) {
    topics.Subscribe(socket, kRoom);
    Say(topics, *socket.Data<std::string>() + " has come");
  };
  guests.on_message = [topics](WebSocket& socket, const Message& message) {
    if (message.kind != MessageKind::kText) {
      socket.Close(turtle::CloseCode::kUnsupported, "only text");
      return;
    }
    Say(topics, *socket.Data<std::string>() + ": " + std::string(message.bytes));
  };
  guests.on_close = [topics](WebSocket& socket, turtle::CloseCode, std::string_view) {
    Say(topics, *socket.Data<std::string>() + " has left");
  };
  return guests;
}

auto RelayFor(const Topics& topics, const std::string& key) -> turtle::WebSocketHandlers {
  turtle::WebSocketHandlers relay;
  relay.on_request = [key](Exchange& exchange) -> std::shared_ptr<void> {
    if (key.empty() || exchange.GetRequest().headers.Find("X-Relay-Key") != key) {
      throw turtle::HttpError(403);
    }
    return nullptr;
  };
  relay.on_open = [topics](WebSocket& socket) { topics.Subscribe(socket, kRelay); };
  return relay;
}

// Brings the lines of the other process to the guests of this one.
class Peer {
 public:
  Peer(Topics topics, const Arguments& arguments)
      : topics_(std::move(topics)),
        server_("127.0.0.1", arguments.peer),
        thread_([this, key = arguments.key] { Run(key); }) {}
  Peer(const Peer&) = delete;
  auto operator=(const Peer&) -> Peer& = delete;
  ~Peer() {
    stop_ = true;
    thread_.join();
  }

 private:
  void Run(const std::string& key) {
    turtle::WebSocketClientOptions options;
    options.target = "/relay";
    options.fields = "X-Relay-Key: " + key + "\r\n";
    options.timeout = kPause;
    while (!stop_) {
      try {
        turtle::WebSocketClient client(server_, options);
        Listen(client);
      } catch (const std::exception&) {  // it isn't there yet, or no longer
      }
      std::this_thread::sleep_for(kPause);
    }
  }

  void Listen(turtle::WebSocketClient& client) {
    while (!stop_) {
      const auto event = client.Receive();
      if (event && event->event != turtle::ReadEvent::kMessage) {
        return;
      }
      if (event) {
        topics_.Publish(kRoom, event->kind, event->bytes);
      }
    }
  }

  static constexpr std::chrono::milliseconds kPause{500};

  const Topics topics_;
  const turtle::NetAddress server_;
  std::atomic<bool> stop_{false};
  std::thread thread_;  // last: it uses the others
};

}  // namespace

int main(int argc, char** argv) {
  try {
    const Arguments arguments = ParseArguments(argc, argv);
    const Topics topics;
    turtle::HttpServer server(turtle::NetAddress("127.0.0.1", arguments.port));
    turtle::WebSocketOptions options;
    options.max_message_bytes = kMaxLine;
    server.Files("/", arguments.pages);
    server.WebSocket("/chat", Guests(topics), options);
    server.WebSocket("/relay", RelayFor(topics, arguments.key));
    server.StopOnSignals();
    std::unique_ptr<Peer> peer;
    if (arguments.peer != 0) {
      peer = std::make_unique<Peer>(topics, arguments);
    }
    std::cout << "http://localhost:" << server.LocalAddress().Port() << "/" << std::endl;
    server.Begin();
  } catch (const std::exception& error) {
    std::cerr << "web_chat: " << error.what() << '\n';
    return 1;
  }
}
