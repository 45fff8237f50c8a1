// The protocol that one connection speaks.
//
// HttpServer hangs a Session on each connection and calls it; HTTP/1.1 is one (web/http_session.h).
// A session makes an Exchange of each request that comes in, has LoopHttp answer it, and puts the
// response on the wire in its own framing.
//
// Interface:
//  * OnProgress(), OnTimeout() and OnStop() are called by the server.
//  * Wake() is called by an exchange that was answered outside of OnProgress().
//  * FindOpen() finds the exchange for a late response, which may come from another thread.
//
// A session sets its own deadlines, Looper::SetDeadline(): for input, and for output that the
// client does not read.
//
// Thread: the loop's.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "core/connection.h"
#include "core/looper.h"

namespace TURTLE_SERVER {

class Exchange;

/// One client's conversation with the server. Owned by its connection.
class Session : public ConnectionState {
 public:
  Session(const Session&) = delete;
  auto operator=(const Session&) -> Session& = delete;

  /// Returns the session of a connection of an HttpServer.
  [[nodiscard]] static auto Of(const Connection& connection) noexcept -> Session& {
    return *static_cast<Session*>(connection.State());
  }

  /// Goes on: there may be input, room for output, or a late response.
  virtual void OnProgress() = 0;

  /// Acts on a deadline that has passed.
  virtual void OnTimeout() = 0;

  /// Prepares to stop: answers the requests under way, and closes the connection if there are none.
  virtual void OnStop() = 0;

  /// Schedules OnProgress() and a flush, unless OnProgress() is running.
  void Wake() {
    if (!running_) {
      GetLooper().Schedule(&connection_);
      OnWake();
    }
  }

  /// Returns the exchange with this number if its response is not complete, else nullptr.
  [[nodiscard]] virtual auto FindOpen(std::uint32_t number) noexcept -> Exchange* = 0;

  /// Returns the connection that this session is the state of.
  [[nodiscard]] auto GetConnection() const noexcept -> Connection& { return connection_; }

  /// Returns the loop that runs all this.
  [[nodiscard]] auto GetLooper() const noexcept -> Looper& { return *connection_.GetLooper(); }

 protected:
  /// @param connection whose state this will be
  explicit Session(Connection& connection) noexcept : connection_(connection) {}

  /// OnProgress() says so at its beginning and at its end.
  void SetRunning(bool running) noexcept { running_ = running; }

 private:
  /// Looks at the deadlines again, since there is more to send.
  virtual void OnWake() {}

  Connection& connection_;
  bool running_ = false;
};

/// Makes the session that takes a connection over (Exchange::Upgrade()). Never returns nullptr.
using SessionMaker = std::function<std::unique_ptr<Session>(Connection&)>;

}  // namespace TURTLE_SERVER
