// The server that this chapter can build: a listener and one loop.
#pragma once

#include <utility>

#include "core/looper.h"
#include "core/socket.h"
#include "support/loop_thread.h"

namespace TURTLE_SERVER::test {

/// Serves clients on any free port until it is destroyed. Clients must be destroyed before it.
class ServerUnderTest {
 public:
  /// The number of loops.
  static constexpr std::size_t kLoops = 1;

  /// Begins to serve.
  explicit ServerUnderTest(ConnectionCallbacks callbacks) : callbacks_(std::move(callbacks)) {
    listener_.SetNonBlocking();
    listener_.Bind(NetAddress("127.0.0.1", 0));
    listener_.Listen();
    loop_.Ask([this] {
      loop_.Get().Watch(listener_.GetFd(), Interest::kRead, [this](const PollEvent&) {
        NetAddress from;
        for (UniqueFd fd(listener_.Accept(from)); fd; fd.Reset(listener_.Accept(from))) {
          loop_.Get().AddConnection(std::move(fd), callbacks_);
        }
      });
    });
  }

  /// Returns its port.
  [[nodiscard]] auto Port() const -> int { return listener_.LocalAddress().Port(); }

 private:
  const ConnectionCallbacks callbacks_;
  Socket listener_;
  LoopThread loop_;
};

}  // namespace TURTLE_SERVER::test
