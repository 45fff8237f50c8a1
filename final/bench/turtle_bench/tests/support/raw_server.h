// A server that misbehaves in the way a test needs.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "core/turtle_server.h"

namespace TURTLE_SERVER::test {

/// Calls a function for each request head, on one loop.
class RawServer {
 public:
  /// Reacts to a request: writes to the connection, deletes it, or does nothing at all.
  using Answer = std::function<void(Connection&)>;

  explicit RawServer(Answer answer) : server_(NetAddress("127.0.0.1", 0), OneThread()) {
    server_.OnHandle([answer = std::move(answer)](Connection* connection) {
      const bool exit = connection->Recv().exit;
      for (std::size_t end = connection->Read().find("\r\n\r\n"); end != std::string_view::npos;
           end = connection->Read().find("\r\n\r\n")) {
        connection->Consume(end + 4);
        answer(*connection);
      }
      if (exit) {
        connection->GetLooper()->DeleteConnection(connection->GetFd());
      }
    });
    thread_ = std::thread([this] { server_.Begin(); });
  }

  RawServer(const RawServer&) = delete;
  auto operator=(const RawServer&) -> RawServer& = delete;

  ~RawServer() {
    server_.Stop();
    thread_.join();
  }

  /// Returns its address.
  [[nodiscard]] auto Port() const -> int { return server_.LocalAddress().Port(); }

  /// Stops it, now or soon. Any thread.
  void Stop() { server_.Stop(); }

 private:
  static auto OneThread() -> ServerOptions {
    ServerOptions options;
    options.threads = 1;
    options.stop_timeout = std::chrono::milliseconds(0);
    return options;
  }

  TurtleServer server_;
  std::thread thread_;
};

}  // namespace TURTLE_SERVER::test
