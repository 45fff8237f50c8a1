// Sends back what it receives, on several threads, until SIGINT or SIGTERM.
//
//   echo_server [PORT [ADDRESS [IDLE_MS]]]
//
// The defaults are 20080 and 127.0.0.1; port 0: any free one. A client that says nothing for
// IDLE_MS milliseconds (default: a minute) is closed.
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

using std::chrono::milliseconds;
using turtle::Acceptor;
using turtle::Connection;
using turtle::ConnectionCallbacks;
using turtle::Looper;
using turtle::NetAddress;
using turtle::Socket;
using turtle::ThreadPool;

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

void Serve(const NetAddress& address, milliseconds idle) {
  const std::size_t threads = std::max(2U, std::thread::hardware_concurrency());
  Server server(address,
                {[=](Connection* client) { Await(client, idle); },
                 [=](Connection* client) { Echo(client, idle); }},
                threads);
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
