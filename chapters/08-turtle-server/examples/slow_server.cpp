// A server with a slow handler, on several threads. Every byte is a request: `w` is 50 ms of work,
// anything else gets its response at once. The response is the same byte.
//
//   slow_server [PORT [ADDRESS]]      20080 and 127.0.0.1 unless given; port 0: any free one
#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>

#include "core/turtle_server.h"

namespace {

using turtle::Connection;
using turtle::NetAddress;
using turtle::ServerOptions;
using turtle::TurtleServer;

TurtleServer* to_stop = nullptr;  // the only thing that the signal handler needs

auto ParsePort(std::string_view text) -> int {
  int port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw std::invalid_argument("port \"" + std::string(text) + "\": not a number");
  }
  return port;
}

// Keeps the processor busy, as resizing a picture does.
void Work() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
  while (std::chrono::steady_clock::now() < end) {
  }
}

void Handle(Connection* client) {
  const bool exit = client->Recv().exit;
  for (const char request : client->Read()) {
    if (request == 'w') {
      Work();
    }
  }
  client->WriteToWriteBuffer(client->Read());
  client->ClearReadBuffer();
  if (exit) {
    client->GetLooper()->DeleteConnection(client->GetFd());
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc > 3) {
      throw std::invalid_argument("usage: slow_server [PORT [ADDRESS]]");
    }
    ServerOptions options;
    options.threads = std::max(2U, std::thread::hardware_concurrency());
    TurtleServer server(
        NetAddress(argc > 2 ? argv[2] : "127.0.0.1", argc > 1 ? ParsePort(argv[1]) : 20080),
        options);
    to_stop = &server;
    for (const int signal : {SIGINT, SIGTERM}) {
      std::signal(signal, [](int) { to_stop->Stop(); });
    }
    std::cout << "listening on " << server.LocalAddress().ToString() << std::endl;
    server.OnHandle(Handle).Begin();
  } catch (const std::exception& error) {
    std::cerr << "slow_server: " << error.what() << '\n';
    return 1;
  }
}
