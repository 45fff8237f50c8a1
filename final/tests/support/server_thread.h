// A TurtleServer on its own thread.
#pragma once

#include <chrono>
#include <cstdlib>
#include <exception>
#include <future>
#include <iostream>
#include <thread>

#include "core/turtle_server.h"
#include "support/client.h"

namespace TURTLE_SERVER::test {

/// Runs Begin() from its construction to Stop(), or until it goes. Clients have to go before it.
class ServerThread {
 public:
  /// The server outlives this object.
  explicit ServerThread(TurtleServer& server)
      : server_(server), thread_([this] {
          server_.Begin();
          ended_.set_value();
        }) {}

  ServerThread(const ServerThread&) = delete;
  auto operator=(const ServerThread&) -> ServerThread& = delete;

  ~ServerThread() {
    server_.Stop();
    Join();
  }

  /// The thread that Begin() runs on.
  [[nodiscard]] auto Id() const -> std::thread::id { return thread_.get_id(); }

  /// Waits for `limit` at most. @return true if Begin() has returned by then.
  [[nodiscard]] auto EndsWithin(std::chrono::milliseconds limit) const -> bool {
    return has_ended_.wait_for(limit) == std::future_status::ready;
  }

  /// Waits until Begin() has returned.
  void Join() {
    if (thread_.joinable()) {
      if (!EndsWithin(kPatience)) {
        std::cerr << "the server doesn't end" << std::endl;
        std::abort();  // there is no way to go on without the thread
      }
      thread_.join();
    }
  }

 private:
  TurtleServer& server_;
  std::promise<void> ended_;
  std::shared_future<void> has_ended_ = ended_.get_future().share();
  std::thread thread_;
};

}  // namespace TURTLE_SERVER::test
