// Sends back what it receives, to many clients at once.
//
//   echo_server [PORT [ADDRESS]]      20080 and 127.0.0.1 unless given; port 0: any free one
#include <array>
#include <charconv>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "core/poller.h"
#include "core/socket.h"

namespace {

using turtle::Interest;
using turtle::IoResult;
using turtle::IoStatus;
using turtle::NetAddress;
using turtle::Poller;
using turtle::PollEvent;
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

class EchoServer {
 public:
  explicit EchoServer(const NetAddress& address) : poller_(Poller::Create()) {
    listener_.SetNonBlocking();
    listener_.Bind(address);
    listener_.Listen();
    poller_->Add(listener_.GetFd(), Interest::kRead, Token(listener_));
  }

  auto LocalAddress() const -> NetAddress { return listener_.LocalAddress(); }

  void Run() {
    for (;;) {
      for (const PollEvent& event : poller_->Wait(std::nullopt)) {
        if (event.token == Token(listener_)) {
          AcceptAll();
        } else {
          Echo(event.token);
        }
      }
    }
  }

 private:
  static auto Token(const Socket& socket) -> std::uint64_t {
    return static_cast<std::uint64_t>(socket.GetFd());
  }

  // Accepts until no client waits. Without descriptors, clients stay in the kernel's queue.
  void AcceptAll() {
    NetAddress from;
    while (UniqueFd fd{listener_.Accept(from)}) {
      Socket client(std::move(fd));
      const std::uint64_t token = Token(client);
      poller_->Add(client.GetFd(), Interest::kRead, token);
      clients_.insert_or_assign(token, std::move(client));
    }
  }

  // Does one read and one write, since the next client is waiting. More bytes raise more events.
  void Echo(std::uint64_t token) {
    const auto found = clients_.find(token);
    if (found == clients_.end()) {
      return;  // closed earlier in this round
    }
    Socket& client = found->second;
    const IoResult received = client.Recv(bytes_.data(), bytes_.size());
    if (received.status == IoStatus::kWouldBlock) {
      return;
    }
    if (received.status != IoStatus::kBytes) {
      clients_.erase(found);  // closing the descriptor takes it out of the poller
      return;
    }
    // Send() may take a part, or nothing, if the client doesn't read. There is no place to keep the
    // rest, and waiting for room would stop every client: until chapter 03 the rest is lost.
    static_cast<void>(client.Send({bytes_.data(), received.bytes}));
  }

  std::unique_ptr<Poller> poller_;
  Socket listener_;
  std::unordered_map<std::uint64_t, Socket> clients_;
  std::array<char, 65536> bytes_{};
};

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc > 3) {
      throw std::invalid_argument("usage: echo_server [PORT [ADDRESS]]");
    }
    EchoServer server(
        NetAddress(argc > 2 ? argv[2] : "127.0.0.1", argc > 1 ? ParsePort(argv[1]) : 20080));
    std::cout << "listening on " << server.LocalAddress().ToString() << std::endl;
    server.Run();
  } catch (const std::exception& error) {
    std::cerr << "echo_server: " << error.what() << '\n';
    return 1;
  }
}
