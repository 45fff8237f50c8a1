// Sends back what it receives, to many clients at once, however slowly they read.
//
//   echo_server [PORT [ADDRESS]]      20080 and 127.0.0.1 unless given; port 0: any free one
#include <charconv>
#include <chrono>
#include <cstdint>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "core/connection.h"
#include "core/poller.h"
#include "core/socket.h"

namespace {

using turtle::Connection;
using turtle::Interest;
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
    poller_->Add(listener_.GetFd(), Interest::kRead, Token(listener_.GetFd()));
  }

  auto LocalAddress() const -> NetAddress { return listener_.LocalAddress(); }

  void Run() {
    for (;;) {
      std::set<std::uint64_t> ready = std::exchange(unfinished_, {});
      std::optional<std::chrono::milliseconds> timeout;
      if (!ready.empty()) {
        timeout = std::chrono::milliseconds(0);
      }
      for (const PollEvent& event : poller_->Wait(timeout)) {
        if (event.token == Token(listener_.GetFd())) {
          AcceptAll();
        } else {
          ready.insert(event.token);  // only once, even if it is also unfinished
        }
      }
      for (const std::uint64_t token : ready) {
        Echo(token);
      }
    }
  }

 private:
  static auto Token(int fd) -> std::uint64_t { return static_cast<std::uint64_t>(fd); }

  // Accepts until no client waits. Without descriptors, clients stay in the kernel's queue.
  void AcceptAll() {
    NetAddress from;
    while (UniqueFd fd{listener_.Accept(from)}) {
      const std::uint64_t token = Token(fd.Get());
      // Once for its whole life: an edge costs nothing while the socket just stays writable.
      poller_->Add(fd.Get(), Interest::kRead | Interest::kWrite | Interest::kEdge, token);
      clients_.insert_or_assign(token, std::make_unique<Connection>(Socket(std::move(fd))));
    }
  }

  // Both directions may continue, whatever the edge was: a pause that ends by sending has left
  // input unread, and no edge will report that again.
  void Echo(std::uint64_t token) {
    const auto found = clients_.find(token);
    if (found == clients_.end()) {
      return;  // closed earlier in this round
    }
    Connection& client = *found->second;
    client.Send();
    const auto [read, exit] = client.Recv();
    client.WriteToWriteBuffer(client.Read());
    client.ClearReadBuffer();
    client.Send();
    if (exit && client.UnsentBytes() == 0) {
      clients_.erase(found);  // closing the descriptor takes it out of the poller
    } else if (read != 0) {
      unfinished_.insert(token);  // there may be more, but first the others have their turn
    }
  }

  std::unique_ptr<Poller> poller_;
  Socket listener_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Connection>> clients_;
  std::set<std::uint64_t> unfinished_;
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
