// Sends back what it receives, to one client after the other.
//
//   echo_server [PORT [ADDRESS]]      20080 and 127.0.0.1 unless given; port 0: any free one
#include <array>
#include <cerrno>
#include <charconv>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "core/socket.h"

namespace {

using turtle::IoResult;
using turtle::IoStatus;
using turtle::NetAddress;
using turtle::Socket;
using turtle::UniqueFd;

auto ParsePort(std::string_view text) -> int {
  int port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw std::invalid_argument("port \"" + std::string(text) + "\": not a number");
  }
  return port;
}

// Sends all bytes. False: the client is gone.
auto SendAll(Socket& client, std::string_view bytes) -> bool {
  while (!bytes.empty()) {
    const IoResult sent = client.Send(bytes);
    if (sent.status != IoStatus::kBytes) {
      return false;
    }
    bytes.remove_prefix(sent.bytes);
  }
  return true;
}

// Serves one client until it has finished sending or is gone.
void Echo(Socket client) {
  std::array<char, 65536> bytes;
  for (;;) {
    const IoResult received = client.Recv(bytes.data(), bytes.size());
    if (received.status != IoStatus::kBytes || !SendAll(client, {bytes.data(), received.bytes})) {
      return;
    }
  }
}

void Serve(const NetAddress& address) {
  Socket listener;
  listener.Bind(address);
  listener.Listen();
  std::cout << "listening on " << listener.LocalAddress().ToString() << std::endl;
  for (;;) {
    NetAddress from;
    UniqueFd client(listener.Accept(from));
    if (!client) {
      throw std::system_error(errno, std::generic_category(), "accept");
    }
    Echo(Socket(std::move(client)));
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc > 3) {
      throw std::invalid_argument("usage: echo_server [PORT [ADDRESS]]");
    }
    Serve(NetAddress(argc > 2 ? argv[2] : "127.0.0.1", argc > 1 ? ParsePort(argv[1]) : 20080));
  } catch (const std::exception& error) {
    std::cerr << "echo_server: " << error.what() << '\n';
    return 1;
  }
}
