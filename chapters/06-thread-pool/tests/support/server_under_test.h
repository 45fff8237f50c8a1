// The server that this chapter can build: several loops, and each watches the listener.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

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
    listener_.SetNonBlocking();
    listener_.Bind(NetAddress("127.0.0.1", 0));
    listener_.Listen();
    for (LoopThread& loop : loops_) {
      loop.Ask([this, &looper = loop.Get()] {
        looper.Watch(listener_.GetFd(), Interest::kRead, [this, &looper](const PollEvent&) {
          NetAddress from;
          for (UniqueFd fd(listener_.Accept(from)); fd; fd.Reset(listener_.Accept(from))) {
            looper.AddConnection(std::move(fd), callbacks_);
          }
        });
      });
    }
  }

  /// Returns its port.
  [[nodiscard]] auto Port() const -> int { return listener_.LocalAddress().Port(); }

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
  Socket listener_;
  std::array<LoopThread, kLoops> loops_;
};

}  // namespace TURTLE_SERVER::test
