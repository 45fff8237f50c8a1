// Passes bytes between its clients and a server, both ways.
//
//   relay PORT SERVER_PORT      both on 127.0.0.1; port 0: any free one
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>

#include "core/poller.h"
#include "core/socket.h"

int main(int argc, char** argv) {
  try {
    if (argc != 3) {
      throw std::invalid_argument("usage: relay PORT SERVER_PORT");
    }
    turtle::Socket listener;
    listener.Bind(turtle::NetAddress("127.0.0.1", std::stoi(argv[1])));
    listener.Listen();
    const turtle::NetAddress server("127.0.0.1", std::stoi(argv[2]));
    std::cout << "listening on " << listener.LocalAddress().ToString() << std::endl;
    for (;;) {
      turtle::NetAddress from;
      const turtle::UniqueFd client(listener.Accept(from));  // TODO: and now?
    }
  } catch (const std::exception& error) {
    std::cerr << "relay: " << error.what() << '\n';
    return 1;
  }
}
