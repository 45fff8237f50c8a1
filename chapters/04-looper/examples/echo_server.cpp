// Sends back what it receives, until SIGINT or SIGTERM.
//
//   echo_server [PORT [ADDRESS [IDLE_MS]]]
//
// The defaults are 20080 and 127.0.0.1; port 0: any free one. IDLE_MS, the time after which a
// silent client is to be closed, has no effect: there are no timers before chapter 05.
#include <charconv>
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

void Echo(Connection* client) {
  const auto [read, exit] = client->Recv();
  if (read != 0) {
    client->WriteToWriteBuffer(client->Read());
    client->ClearReadBuffer();
  }
  if (exit && client->UnsentBytes() == 0) {  // the client may have finished sending, but still read
    client->GetLooper()->DeleteConnection(client->GetFd());
  }
}

// Accepts until no client waits. Without descriptors, clients stay in the kernel's queue.
void AcceptAll(Socket& listener, Looper& looper, const ConnectionCallbacks& callbacks) {
  NetAddress from;
  while (UniqueFd fd{listener.Accept(from)}) {
    looper.AddConnection(std::move(fd), callbacks);
  }
}

void Serve(const NetAddress& address) {
  Socket listener;
  listener.SetNonBlocking();
  listener.Bind(address);
  listener.Listen();

  const ConnectionCallbacks callbacks{{}, Echo};
  Looper looper;
  looper.Watch(listener.GetFd(), Interest::kRead,
               [&](const PollEvent&) { AcceptAll(listener, looper, callbacks); });
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
    Serve(NetAddress(argc > 2 ? argv[2] : "127.0.0.1", argc > 1 ? ParsePort(argv[1]) : 20080));
  } catch (const std::exception& error) {
    std::cerr << "echo_server: " << error.what() << '\n';
    return 1;
  }
}
