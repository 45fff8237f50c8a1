// A server with a slow handler, on several threads. Every byte is a request: `w` is 50 ms of work,
// anything else gets its response at once. The response is the same byte.
//
//   slow_server [PORT [ADDRESS]]      20080 and 127.0.0.1 unless given; port 0: any free one
#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "core/acceptor.h"
#include "core/connection.h"
#include "core/looper.h"
#include "core/socket.h"
#include "task/thread_pool.h"

namespace {

using turtle::Acceptor;
using turtle::Connection;
using turtle::ConnectionCallbacks;
using turtle::Looper;
using turtle::NetAddress;
using turtle::Socket;
using turtle::ThreadPool;

Looper* to_stop = nullptr;  // the only thing that the signal handler needs

auto ParsePort(std::string_view text) -> int {
  int port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw std::invalid_argument("port \"" + std::string(text) + "\": not a number");
  }
  return port;
}

// Each thread has one loop. The first one accepts, for all of them.
class Server {
 public:
  Server(const NetAddress& address, ConnectionCallbacks callbacks, std::size_t threads)
      : callbacks_(std::move(callbacks)) {
    Socket listener;
    listener.Bind(address);
    listener.Listen();
    local_address_ = listener.LocalAddress();
    std::vector<Looper*> targets;
    while (loopers_.size() < threads) {
      loopers_.push_back(std::make_unique<Looper>());
      targets.push_back(loopers_.back().get());
    }
    acceptor_.emplace(FirstLoop(), std::move(listener), targets, callbacks_);
    acceptor_->Start();
    FirstLoop().AtStop([this] {
      acceptor_->Stop();
      StopOthers();
    });
  }

  auto LocalAddress() const -> const NetAddress& { return local_address_; }

  auto FirstLoop() -> Looper& { return *loopers_.front(); }

  void Run() {
    ThreadPool threads(loopers_.size() - 1);
    threads.Start();
    try {
      for (std::size_t i = 1; i < loopers_.size(); ++i) {
        static_cast<void>(threads.Submit([looper = loopers_[i].get()] { looper->Loop(); }));
      }
      FirstLoop().Loop();
    } catch (...) {
      StopOthers();
      throw;
    }
  }

 private:
  void StopOthers() {
    for (std::size_t i = 1; i < loopers_.size(); ++i) {
      loopers_[i]->Stop();
    }
  }

  const ConnectionCallbacks callbacks_;
  NetAddress local_address_;
  std::vector<std::unique_ptr<Looper>> loopers_;
  std::optional<Acceptor> acceptor_;
};

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
  const std::size_t threads = std::max(2U, std::thread::hardware_concurrency());
  Server server(address, {{}, Handle}, threads);
  to_stop = &server.FirstLoop();
  for (const int signal : {SIGINT, SIGTERM}) {
    std::signal(signal, [](int) { to_stop->Stop(); });
  }
  std::cout << "listening on " << server.LocalAddress().ToString() << std::endl;
  server.Run();
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
