// The way home of late responses.
//
// A Responder, a ReplyStream and a RequestBody outlive the call of the handler that got them. All
// of their calls end here, on the loop's thread, at the handler of the routes.
//
// Thread: the loop's.
#pragma once

#include "web/exchange.h"

namespace TURTLE_SERVER {

class ServerResponse;

/// Takes late responses; one for each loop, which lives as long as the loop has connections.
class LateReplies {
 public:
  /// Has the body brought to `callback`, Exchange::OnBody(), and answers what that throws.
  virtual void BringBody(Exchange& exchange, BodyCallback callback) = 0;

  /// Answers `exchange`, which is open and has no response yet. Does not throw.
  virtual void ReplyLate(Exchange& exchange, ServerResponse& response) noexcept = 0;

  /// Begins a response to `exchange`, as ReplyLate(); the rest of its body is written by others.
  virtual void BeginLate(Exchange& exchange, ServerResponse& head) noexcept = 0;

 protected:
  LateReplies() = default;
  LateReplies(const LateReplies&) = default;
  auto operator=(const LateReplies&) -> LateReplies& = default;
  ~LateReplies() = default;
};

}  // namespace TURTLE_SERVER
