// One request, and the place for its reply.
//
// Interface:
//  * GetRequest() is what the client asked.
//  * Reply() answers it, once, within RequestHandler::Handle() or later.
//  * Attach() keeps what a handler needs until then; it is destroyed with the exchange, at the
//    latest when the client is gone.
//
// A session has one exchange open at a time: the next request of the same client is not parsed
// before the reply is complete, so replies leave in order without a queue.
//
// Thread: the loop's.
#pragma once

#include <cstdint>
#include <memory>

#include "core/connection.h"
#include "http/request.h"
#include "http/response.h"

namespace TURTLE_SERVER {

class HttpSession;
class Looper;

/// Names an exchange of one loop for ever.
struct ExchangeId {
  ConnectionId connection;  ///< whose
  std::uint32_t number;     ///< which of its requests

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

/// One request and the place for its reply. Owned by its session.
class Exchange {
 public:
  Exchange() = default;
  Exchange(const Exchange&) = delete;
  auto operator=(const Exchange&) -> Exchange& = delete;

  /// What the client asked; valid for as long as the exchange is open. A view that was taken from
  /// it within RequestHandler::Handle() is not: the request moves when the handler has returned
  /// without a reply. Who answers later asks again.
  [[nodiscard]] auto GetRequest() const noexcept -> const Request& { return request_; }

  /// The part of the path behind the prefix under which the handler is mounted: "/a/b", or "". A
  /// view like those of GetRequest().
  [[nodiscard]] auto SubPath() const noexcept -> std::string_view {
    return request_.uri.Path().substr(prefix_bytes_);
  }

  /// Answers the request. The body is left away where HTTP wants none (HEAD, 304). A second reply
  /// sends nothing and throws std::logic_error. If that leaves the handler, a reply that is still
  /// under way is cut.
  void Reply(const Response& response);

  /// True once the reply is complete.
  [[nodiscard]] auto Replied() const noexcept -> bool { return replied_; }

  /// Keeps `state` until the exchange ends, in place of what was kept.
  void Attach(std::unique_ptr<ExchangeState> state) noexcept { state_ = std::move(state); }

  /// A name that never means another exchange of the same loop.
  [[nodiscard]] auto Id() const noexcept -> ExchangeId;

  /// The connection on which the request came.
  [[nodiscard]] auto GetConnection() const noexcept -> Connection&;

  /// The loop that runs all this.
  [[nodiscard]] auto GetLooper() const noexcept -> Looper&;

 private:
  friend class HttpSession;

  void Open(HttpSession& session);
  void Close() noexcept;

  HttpSession* session_ = nullptr;
  Request request_;  // its memory is used again by the next exchange
  std::size_t prefix_bytes_ = 0;
  std::size_t unconsumed_bytes_ = 0;  // of the request, at the front of the input
  bool replied_ = false;
  std::unique_ptr<ExchangeState> state_;
};

}  // namespace TURTLE_SERVER
