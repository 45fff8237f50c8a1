// How not to read requests: takes whatever one Recv() brings for a whole request, and says what it
// asks for. It works until the network splits a request.
//
//   one_read_server [PORT]      20080 unless given; port 0: any free one
#include <charconv>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "core/turtle_server.h"

namespace {

using turtle::Connection;

auto ParsePort(std::string_view text) -> int {
  int port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw std::invalid_argument("port \"" + std::string(text) + "\": not a number");
  }
  return port;
}

void Handle(Connection* client) {
  const auto [read, exit] = client->Recv();
  if (exit) {
    client->GetLooper()->DeleteConnection(client->GetFd());
    return;
  }
  if (read != 0) {
    const std::string request = client->ReadAsString();
    client->ClearReadBuffer();
    const std::size_t target = request.find(' ') + 1;
    const std::size_t end = request.find_first_of(" \r\n", target);
    std::cout << "somebody wants " << request.substr(target, end - target) << std::endl;
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc > 2) {
      throw std::invalid_argument("usage: one_read_server [PORT]");
    }
    turtle::ServerOptions options;
    options.threads = 1;  // so that no thread prints into another's lines
    turtle::TurtleServer server(
        turtle::NetAddress("127.0.0.1", argc > 1 ? ParsePort(argv[1]) : 20080), options);
    std::cout << "listening on " << server.LocalAddress().ToString() << std::endl;
    server.OnHandle(Handle).Begin();
  } catch (const std::exception& error) {
    std::cerr << "one_read_server: " << error.what() << '\n';
    return 1;
  }
}
