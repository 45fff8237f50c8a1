// One request and its response.
//
// Interface:
//  * GetRequest() returns the client's request.
//  * Reply() responds, once, within RequestHandler::Handle() or later.
//  * Attach() keeps what a handler needs until then. It is destroyed with the exchange, at the
//    latest when the client is gone.
//
// An exchange knows nothing of framing. Each protocol derives its own class (web/http_exchange.h),
// which puts the response on the wire; handlers see only this one.
//
// Thread: the loop's.
#pragma once

#include <cstdint>
#include <memory>

#include "core/connection.h"
#include "http/request.h"
#include "http/response.h"

namespace TURTLE_SERVER {

class Looper;
class Session;

/// Identifies an exchange of one loop; ids are never reused.
struct ExchangeId {
  ConnectionId connection;  ///< the connection of the exchange
  std::uint32_t number;     ///< which of the loop's requests it is

  /// Returns true for the same exchange.
  friend auto operator==(const ExchangeId& a, const ExchangeId& b) noexcept -> bool {
    return a.connection == b.connection && a.number == b.number;
  }
};

/// Base of the state that a handler keeps with an exchange until it responds.
class ExchangeState {
 public:
  virtual ~ExchangeState() = default;

 protected:
  ExchangeState() = default;
  ExchangeState(const ExchangeState&) = default;
  auto operator=(const ExchangeState&) -> ExchangeState& = default;
};

/// One request and its response. Owned by its session.
class Exchange {
 public:
  virtual ~Exchange() = default;
  Exchange(const Exchange&) = delete;
  auto operator=(const Exchange&) -> Exchange& = delete;

  /// Returns the client's request; valid for as long as the exchange is open. Views taken from it
  /// in RequestHandler::Handle() are not: the request moves if the handler returns without a
  /// response. A handler that responds later must call this again.
  [[nodiscard]] auto GetRequest() const noexcept -> const Request& { return request_; }

  /// Returns the part of the path after the prefix of the handler's mount: "/a/b", or "". The view
  /// is valid like those of GetRequest().
  [[nodiscard]] auto SubPath() const noexcept -> std::string_view {
    return request_.uri.Path().substr(prefix_bytes_);
  }

  /// Sends the response. The body is left out where HTTP forbids one (HEAD, 304). A second call
  /// sends nothing and throws std::logic_error.
  /// @param response with a final status; throws std::invalid_argument for one below 200
  void Reply(const Response& response);

  /// Returns true once the response is complete.
  [[nodiscard]] auto Replied() const noexcept -> bool { return replied_; }

  /// Keeps `state` until the exchange ends, in place of what was kept.
  void Attach(std::unique_ptr<ExchangeState> state) noexcept { state_ = std::move(state); }

  /// Returns an id that no other exchange of the same loop ever has.
  [[nodiscard]] auto Id() const noexcept -> ExchangeId;

  /// Returns the connection on which the request came.
  [[nodiscard]] auto GetConnection() const noexcept -> Connection&;

  /// Returns the loop of the connection.
  [[nodiscard]] auto GetLooper() const noexcept -> Looper&;

 protected:
  Exchange() = default;

  /// Begins a new exchange in the memory of the last one.
  /// @param session whose request this is; outlives the exchange
  /// @param number of the loop's, LoopHttp::NextNumber()
  void Open(Session& session, std::uint32_t number);

  /// Ends the exchange, destroys the attached state, and keeps memory for the next one. A
  /// protocol's destructor calls it too, since attached state may respond in its destructor.
  void Close() noexcept;

  /// Returns the request, for the protocol to fill in.
  [[nodiscard]] auto RoomForRequest() noexcept -> Request& { return request_; }

  /// Returns the session that the request came to.
  [[nodiscard]] auto GetSession() const noexcept -> Session& { return *session_; }

 private:
  friend class LoopHttp;  // it calls the handlers

  // The protocol's part of a response.

  // Sends a whole response.
  virtual void SendWhole(const Response& response) = 0;
  Session* session_ = nullptr;
  Request request_;  // its memory is used again by the next exchange
  std::size_t prefix_bytes_ = 0;
  std::uint32_t number_ = 0;
  bool replied_ = false;
  std::unique_ptr<ExchangeState> state_;
};

}  // namespace TURTLE_SERVER
