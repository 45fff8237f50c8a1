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

/// Runs Begin() from construction to Stop() or destruction. Clients must be destroyed first.
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

  /// Returns the id of the thread that runs Begin().
  [[nodiscard]] auto Id() const -> std::thread::id { return thread_.get_id(); }

  /// Waits for at most `limit`. @return true if Begin() has returned by then.
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
