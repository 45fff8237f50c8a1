// One request, and the place for its response.
//
// Interface:
//  * GetRequest() is what the client asked.
//  * Reply() answers it, once, within RequestHandler::Handle() or later.
//  * Attach() keeps what a handler needs until then; it is destroyed with the exchange, at the
//    latest when the client is gone.
//
// An exchange knows no framing. Each protocol derives its own from it (web/http_exchange.h), which
// puts the response on the wire; handlers see this class only.
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

/// Names an exchange of one loop; names are not used again.
struct ExchangeId {
  ConnectionId connection;  ///< whose
  std::uint32_t number;     ///< which of the loop's requests

  /// Same exchange?
  friend auto operator==(const ExchangeId& a, const ExchangeId& b) noexcept -> bool {
    return a.connection == b.connection && a.number == b.number;
  }
};

/// Base of what a handler keeps with an exchange that it answers later.
class ExchangeState {
 public:
  virtual ~ExchangeState() = default;

 protected:
  ExchangeState() = default;
  ExchangeState(const ExchangeState&) = default;
  auto operator=(const ExchangeState&) -> ExchangeState& = default;
};

/// One request, and the place for its response. Owned by its session.
class Exchange {
 public:
  virtual ~Exchange() = default;
  Exchange(const Exchange&) = delete;
  auto operator=(const Exchange&) -> Exchange& = delete;

  /// The client's request; valid for as long as the exchange is open. A view that was taken from it
  /// within RequestHandler::Handle() is not: the request moves when the handler has returned
  /// without a response. A handler that answers later asks again.
  [[nodiscard]] auto GetRequest() const noexcept -> const Request& { return request_; }

  /// The part of the path after the prefix under which the handler is mounted: "/a/b", or "". A
  /// view like those of GetRequest().
  [[nodiscard]] auto SubPath() const noexcept -> std::string_view {
    return request_.uri.Path().substr(prefix_bytes_);
  }

  /// Answers the request. The body is left out where HTTP wants none (HEAD, 304). A second response
  /// sends nothing and throws std::logic_error. If that leaves the handler, a response that is
  /// still under way is cut.
  /// @param response with a final status; throws std::invalid_argument for one below 200
  void Reply(const Response& response);

  /// True once the response is complete.
  [[nodiscard]] auto Replied() const noexcept -> bool { return replied_; }

  /// Keeps `state` until the exchange ends, in place of what was kept.
  void Attach(std::unique_ptr<ExchangeState> state) noexcept { state_ = std::move(state); }

  /// A name that never means another exchange of the same loop.
  [[nodiscard]] auto Id() const noexcept -> ExchangeId;

  /// The connection on which the request came.
  [[nodiscard]] auto GetConnection() const noexcept -> Connection&;

  /// The loop that runs all this.
  [[nodiscard]] auto GetLooper() const noexcept -> Looper&;

 protected:
  Exchange() = default;

  /// Begins a new exchange in the memory of the last one.
  /// @param session whose request this is; outlives the exchange
  /// @param number of the loop's, LoopHttp::NextNumber()
  void Open(Session& session, std::uint32_t number);

  /// Ends it: destroys what is attached, and keeps memory for the next one. A protocol's destructor
  /// calls it too: what is attached may answer in its own destructor.
  void Close() noexcept;

  /// The request, to be filled in by the protocol.
  [[nodiscard]] auto RoomForRequest() noexcept -> Request& { return request_; }

  /// The session that the request came to.
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
