// A server with a slow handler. Every byte is a request: `w` is 50 ms of work, anything else gets
// its response at once. The response is the same byte.
//
//   slow_server [PORT [ADDRESS]]      20080 and 127.0.0.1 unless given; port 0: any free one
#include <charconv>
#include <chrono>
#include <csignal>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/connection.h"
#include "core/looper.h"
#include "core/socket.h"

namespace {

using turtle::Connection;
using turtle::ConnectionCallbacks;
using turtle::Interest;
using turtle::Looper;
using turtle::NetAddress;
using turtle::PollEvent;
using turtle::Socket;
using turtle::UniqueFd;

Looper* to_stop = nullptr;  // the only thing that the signal handler needs

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

void Serve(const NetAddress& address) {
  Socket listener;
  listener.SetNonBlocking();
  listener.Bind(address);
  listener.Listen();

  const ConnectionCallbacks callbacks{{}, Handle};
  Looper looper;
  const auto watch = looper.Watch(listener.GetFd(), Interest::kRead, [&](const PollEvent&) {
    NetAddress from;
    while (UniqueFd fd{listener.Accept(from)}) {
      looper.AddConnection(std::move(fd), callbacks);
    }
  });
  looper.AtStop([&] {
    looper.Unwatch(watch);
    listener = Socket();
  });
  to_stop = &looper;
  for (const int signal : {SIGINT, SIGTERM}) {
    std::signal(signal, [](int) { to_stop->Stop(); });
  }
  std::cout << "listening on " << listener.LocalAddress().ToString() << std::endl;
  looper.Loop();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc > 3) {
      throw std::invalid_argument("usage: slow_server [PORT [ADDRESS]]");
    }
    Serve(NetAddress(argc > 2 ? argv[2] : "127.0.0.1", argc > 1 ? ParsePort(argv[1]) : 20080));
  } catch (const std::exception& error) {
    std::cerr << "slow_server: " << error.what() << '\n';
    return 1;
  }
}
