// The usual server from this chapter on: a TurtleServer with several loops.
#pragma once

#include <array>
#include <cstddef>
#include <future>
#include <memory>
#include <stdexcept>
#include <utility>

#include "core/turtle_server.h"
#include "support/client.h"
#include "support/server_thread.h"

namespace TURTLE_SERVER::test {

/// Serves clients on any free port until it is destroyed. Clients must be destroyed before it.
class ServerUnderTest {
 public:
  /// The number of loops.
  static constexpr std::size_t kLoops = 3;

  /// Begins to serve.
  explicit ServerUnderTest(ConnectionCallbacks callbacks)
      : server_(NetAddress("127.0.0.1", 0), Options()) {
    server_.OnAccept(std::move(callbacks.on_accept)).OnHandle(std::move(callbacks.on_handle));
    thread_ = std::make_unique<ServerThread>(server_);
  }

  /// Returns its port.
  [[nodiscard]] auto Port() const -> int { return server_.LocalAddress().Port(); }

  /// Runs `action` here while one of the loops stands still.
  template <typename Action>
  void WhileItStandsStill(std::size_t loop, Action action) {
    auto stands = std::make_shared<std::promise<void>>();
    auto go_on = std::make_shared<std::promise<void>>();
    auto standing = stands->get_future();
    const bool accepted = server_.Loopers()[loop]->Post([stands, go_on] {
      stands->set_value();
      go_on->get_future().wait_for(kPatience);
    });
    if (!accepted || standing.wait_for(kPatience) != std::future_status::ready) {
      throw std::runtime_error("the loop doesn't answer");
    }
    try {
      action();
    } catch (...) {
      go_on->set_value();
      throw;
    }
    go_on->set_value();
  }

  /// Returns how many connections each loop has.
  [[nodiscard]] auto Loads() const -> std::array<std::size_t, kLoops> {
    std::array<std::size_t, kLoops> loads{};
    for (std::size_t i = 0; i < kLoops; ++i) {
      loads[i] = server_.Loopers()[i]->ConnectionCount();
    }
    return loads;
  }

 private:
  static auto Options() -> ServerOptions {
    ServerOptions options;
    options.threads = kLoops;
    return options;
  }

  TurtleServer server_;
  std::unique_ptr<ServerThread> thread_;
};

}  // namespace TURTLE_SERVER::test
