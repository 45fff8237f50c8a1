// Receives late responses on the loop.
//
// A Responder, a ReplyStream and a RequestBody outlive the call of the handler that got them. All
// of their calls end here, on the loop's thread, in the route handler.
//
// Thread: the loop's.
#pragma once

#include <exception>

#include "web/exchange.h"

namespace TURTLE_SERVER {

class ServerResponse;

/// Takes late responses. Each loop has one, which lives as long as the loop has connections.
class LateReplies {
 public:
  /// Delivers the body to `callback`, Exchange::OnBody(), and responds to its exceptions.
  virtual void BringBody(Exchange& exchange, BodyCallback callback) = 0;

  /// Responds to `exchange`, which is open and has no response yet. Does not throw.
  virtual void ReplyLate(Exchange& exchange, ServerResponse& response) noexcept = 0;

  /// Responds to an exception of a handler on another thread as if it had been thrown here. Does
  /// not throw.
  virtual void FailLate(Exchange& exchange, const std::exception_ptr& thrown) noexcept = 0;

  /// Begins a response as ReplyLate() does; the caller writes the rest of the body.
  virtual void BeginLate(Exchange& exchange, ServerResponse& head) noexcept = 0;

 protected:
  LateReplies() = default;
  LateReplies(const LateReplies&) = default;
  auto operator=(const LateReplies&) -> LateReplies& = default;
  ~LateReplies() = default;
};

}  // namespace TURTLE_SERVER
