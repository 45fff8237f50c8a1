// A crowd of clients that all send at once, again and again.
//
//   crowd PORT CLIENTS ROUNDS [close]
//
// In each round every client sends a request for /, and only then are the responses read, so a
// server on one thread finds all requests waiting. With `close` each client makes a new connection
// in each round, and announces that it is its last request.
#include <cstdlib>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/socket.h"

namespace {

using turtle::IoResult;
using turtle::IoStatus;
using turtle::NetAddress;
using turtle::Socket;

constexpr std::string_view kRequest = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
constexpr std::string_view kLastRequest =
    "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

void SendAll(Socket& socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const IoResult sent = socket.Send(bytes);
    if (sent.status != IoStatus::kBytes) {
      throw std::runtime_error("the server takes no request");
    }
    bytes.remove_prefix(sent.bytes);
  }
}

// Returns the length of the body that a head promises.
auto BodyLength(std::string_view head) -> std::size_t {
  constexpr std::string_view kName = "\r\nContent-Length: ";
  const std::size_t at = head.find(kName);
  if (at == std::string_view::npos) {
    throw std::runtime_error("a response without a length");
  }
  return std::stoul(std::string(head.substr(at + kName.size(), 20)));
}

// Reads one response, up to its last byte.
void ReadReply(Socket& socket) {
  std::string reply;
  std::size_t wanted = std::string::npos;
  while (reply.size() < wanted) {
    char piece[4096];
    const IoResult received = socket.Recv(piece, sizeof piece);
    if (received.status != IoStatus::kBytes) {
      throw std::runtime_error("the server has gone in the middle of a response");
    }
    reply.append(piece, received.bytes);
    const std::size_t end = reply.find("\r\n\r\n");
    if (wanted == std::string::npos && end != std::string::npos) {
      wanted = end + 4 + BodyLength(std::string_view(reply).substr(0, end + 2));
    }
  }
}

auto ConnectAll(std::uint16_t port, std::size_t count) -> std::vector<Socket> {
  std::vector<Socket> clients(count);
  for (Socket& client : clients) {
    client.Connect(NetAddress("127.0.0.1", port));
  }
  return clients;
}

void Run(std::uint16_t port, std::size_t count, int rounds, bool closing) {
  std::vector<Socket> clients = ConnectAll(port, count);
  for (int round = 0; round < rounds; ++round) {
    for (Socket& client : clients) {
      SendAll(client, closing ? kLastRequest : kRequest);
    }
    for (Socket& client : clients) {
      ReadReply(client);
    }
    if (closing && round + 1 < rounds) {
      clients = ConnectAll(port, count);
    }
  }
  std::cout << count * static_cast<std::size_t>(rounds) << " replies\n";
}

}  // namespace

auto main(int argc, char** argv) -> int try {
  const bool closing = argc == 5 && std::string_view(argv[4]) == "close";
  if (argc != 4 && !closing) {
    std::cerr << "usage: crowd PORT CLIENTS ROUNDS [close]\n";
    return 2;
  }
  Run(static_cast<std::uint16_t>(std::stoul(argv[1])), std::stoul(argv[2]), std::stoi(argv[3]),
      closing);
  return 0;
} catch (const std::exception& error) {
  std::cerr << "crowd: " << error.what() << '\n';
  return 1;
}
