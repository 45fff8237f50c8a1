// Sends back what it receives, on every core, until SIGINT or SIGTERM.
//
//   echo_server [PORT [ADDRESS [IDLE_MS]]]
//
// The defaults are 20080 and 127.0.0.1; port 0: any free one. A client that says nothing for
// IDLE_MS milliseconds (default: a minute) is closed.
#include <charconv>
#include <chrono>
#include <csignal>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "core/turtle_server.h"

namespace {

using std::chrono::milliseconds;
using turtle::Connection;
using turtle::NetAddress;
using turtle::TurtleServer;

TurtleServer* to_stop = nullptr;  // the only thing that the signal handler needs

auto ParseNumber(const std::string& what, std::string_view text) -> int {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw std::invalid_argument(what + " \"" + std::string(text) + "\": not a number");
  }
  return number;
}

void Serve(TurtleServer& server, milliseconds idle) {
  const auto await = [idle](Connection* client) {  // a silent client is deleted
    client->GetLooper()->SetDeadline(client, client->GetLooper()->Now() + idle);
  };
  server.OnAccept(await)
      .OnHandle([await](Connection* client) {
        const auto [read, exit] = client->Recv();
        if (exit) {  // unsent bytes are still sent, for as long as the client reads
          client->GetLooper()->DeleteConnection(client->GetFd());
        } else if (read != 0) {
          client->WriteToWriteBuffer(client->Read());
          client->ClearReadBuffer();
          await(client);
        }
      })
      .Begin();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc > 4) {
      throw std::invalid_argument("usage: echo_server [PORT [ADDRESS [IDLE_MS]]]");
    }
    const int idle_ms = argc > 3 ? ParseNumber("idle time", argv[3]) : 60'000;
    TurtleServer server(NetAddress(argc > 2 ? argv[2] : "127.0.0.1",
                                   argc > 1 ? ParseNumber("port", argv[1]) : 20080));
    to_stop = &server;
    for (const int signal : {SIGINT, SIGTERM}) {
      std::signal(signal, [](int) { to_stop->Stop(); });
    }
    std::cout << "listening on " << server.LocalAddress().ToString() << std::endl;
    Serve(server, milliseconds(idle_ms));
  } catch (const std::exception& error) {
    std::cerr << "echo_server: " << error.what() << '\n';
    return 1;
  }
}
