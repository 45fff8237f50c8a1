// Sends back what it receives, until SIGINT or SIGTERM.
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
#include <utility>

#include "core/connection.h"
#include "core/looper.h"
#include "core/socket.h"

namespace {

using std::chrono::milliseconds;
using turtle::Connection;
using turtle::ConnectionCallbacks;
using turtle::Interest;
using turtle::Looper;
using turtle::NetAddress;
using turtle::PollEvent;
using turtle::Socket;
using turtle::UniqueFd;

constexpr int kIdleMs = 60'000;

Looper* to_stop = nullptr;  // the only thing that the signal handler needs

auto ParseNumber(const std::string& what, std::string_view text) -> int {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw std::invalid_argument(what + " \"" + std::string(text) + "\": not a number");
  }
  return number;
}

// Deletes a client that sends nothing for this long.
void Await(Connection* client, milliseconds idle) {
  Looper* looper = client->GetLooper();
  looper->SetDeadline(client, looper->Now() + idle);
}

void Echo(Connection* client, milliseconds idle) {
  const auto [read, exit] = client->Recv();
  if (exit) {  // unsent bytes are still sent, for as long as the client reads
    client->GetLooper()->DeleteConnection(client->GetFd());
  } else if (read != 0) {
    client->WriteToWriteBuffer(client->Read());
    client->ClearReadBuffer();
    Await(client, idle);
  }
}

// Accepts until no client waits. Without descriptors, clients stay in the kernel's queue.
void AcceptAll(Socket& listener, Looper& looper, const ConnectionCallbacks& callbacks) {
  NetAddress from;
  while (UniqueFd fd{listener.Accept(from)}) {
    looper.AddConnection(std::move(fd), callbacks);
  }
}

void Serve(const NetAddress& address, milliseconds idle) {
  Socket listener;
  listener.SetNonBlocking();
  listener.Bind(address);
  listener.Listen();

  const ConnectionCallbacks callbacks{[=](Connection* client) { Await(client, idle); },
                                      [=](Connection* client) { Echo(client, idle); }};
  Looper looper;
  const auto watch = looper.Watch(listener.GetFd(), Interest::kRead, [&](const PollEvent&) {
    AcceptAll(listener, looper, callbacks);
  });
  looper.AtStop([&] {
    looper.Unwatch(watch);
    listener = Socket();  // later clients are refused, not left waiting
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
    if (argc > 4) {
      throw std::invalid_argument("usage: echo_server [PORT [ADDRESS [IDLE_MS]]]");
    }
    const NetAddress address(argc > 2 ? argv[2] : "127.0.0.1",
                             argc > 1 ? ParseNumber("port", argv[1]) : 20080);
    Serve(address, milliseconds(argc > 3 ? ParseNumber("idle time", argv[3]) : kIdleMs));
  } catch (const std::exception& error) {
    std::cerr << "echo_server: " << error.what() << '\n';
    return 1;
  }
}
