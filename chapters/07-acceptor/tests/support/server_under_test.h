// The server that this chapter can build: several loops, and an Acceptor on the first.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "core/acceptor.h"
#include "core/looper.h"
#include "core/socket.h"
#include "support/loop_thread.h"

namespace TURTLE_SERVER::test {

/// Serves clients on any free port until it is destroyed. Clients must be destroyed before it.
class ServerUnderTest {
 public:
  /// The number of loops.
  static constexpr std::size_t kLoops = 3;

  /// Begins to serve.
  explicit ServerUnderTest(ConnectionCallbacks callbacks) : callbacks_(std::move(callbacks)) {
    Socket listener;
    listener.Bind(NetAddress("127.0.0.1", 0));
    listener.Listen();
    port_ = listener.LocalAddress().Port();
    Looper& home = loops_[0].Get();
    acceptor_.emplace(home, std::move(listener),
                      std::vector<Looper*>{&home, &loops_[1].Get(), &loops_[2].Get()}, callbacks_);
    loops_[0].Ask([this] { acceptor_->Start(); });
  }

  ~ServerUnderTest() {
    loops_[0].Ask([this] { acceptor_->Stop(); });
  }

  ServerUnderTest(const ServerUnderTest&) = delete;
  auto operator=(const ServerUnderTest&) -> ServerUnderTest& = delete;

  /// Returns its port.
  [[nodiscard]] auto Port() const -> int { return port_; }

  /// Runs `action` here while one of the loops stands still.
  template <typename Action>
  void WhileItStandsStill(std::size_t loop, Action action) {
    loops_[loop].WhileItStandsStill(action);
  }

  /// Returns how many connections each loop has.
  [[nodiscard]] auto Loads() -> std::array<std::size_t, kLoops> {
    std::array<std::size_t, kLoops> loads{};
    for (std::size_t i = 0; i < kLoops; ++i) {
      loads[i] = loops_[i].Get().ConnectionCount();
    }
    return loads;
  }

 private:
  const ConnectionCallbacks callbacks_;
  int port_ = 0;
  std::array<LoopThread, kLoops> loops_;
  std::optional<Acceptor> acceptor_;
};

}  // namespace TURTLE_SERVER::test
