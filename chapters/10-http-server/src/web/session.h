// The protocol that one connection speaks.
//
// HttpServer attaches a Session to each connection and calls it; HTTP/1.1 is one
// (web/http_session.h). A session makes an Exchange of each incoming request, has LoopHttp handle
// it, and puts the response on the wire in its own framing.
//
// Interface:
//  * OnProgress(), OnTimeout() and OnStop() are called by the server.
//  * Wake() is called by an exchange that gets its response outside OnProgress().
//
// A session sets its own deadlines, Looper::SetDeadline(): for input, and for output that the
// client does not read.
//
// Thread: the loop's.
#pragma once

#include "core/connection.h"
#include "core/looper.h"

namespace TURTLE_SERVER {

/// One client's conversation with the server. Owned by its connection.
class Session : public ConnectionState {
 public:
  Session(const Session&) = delete;
  auto operator=(const Session&) -> Session& = delete;

  /// Returns the session of an HttpServer's connection.
  [[nodiscard]] static auto Of(const Connection& connection) noexcept -> Session& {
    return *static_cast<Session*>(connection.State());
  }

  /// Continues: there may be input, room for output, or a late response.
  virtual void OnProgress() = 0;

  /// Handles a deadline that has passed.
  virtual void OnTimeout() = 0;

  /// Prepares to stop: finishes pending requests, or closes the connection if there are none.
  virtual void OnStop() = 0;

  /// Schedules OnProgress() and a flush, unless OnProgress() is running.
  void Wake() {
    if (!running_) {
      GetLooper().Schedule(&connection_);
      OnWake();
    }
  }

  /// Returns the connection of this session.
  [[nodiscard]] auto GetConnection() const noexcept -> Connection& { return connection_; }

  /// Returns the loop of this session.
  [[nodiscard]] auto GetLooper() const noexcept -> Looper& { return *connection_.GetLooper(); }

 protected:
  /// @param connection of the new session
  explicit Session(Connection& connection) noexcept : connection_(connection) {}

  /// Called by OnProgress() at its beginning and at its end.
  void SetRunning(bool running) noexcept { running_ = running; }

 private:
  /// Checks the deadlines again, since there is more to send.
  virtual void OnWake() {}

  Connection& connection_;
  bool running_ = false;
};

}  // namespace TURTLE_SERVER
