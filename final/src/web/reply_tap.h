// Watches a response while it is made, for a cache that stores it.
//
// Thread: the loop's.
#pragma once

#include <string_view>

#include "base/namespace.h"

namespace TURTLE_SERVER {

class Response;

/// Sees the response of one exchange (Exchange::Tap()), after each part has been given to the
/// connection. It is destroyed with the exchange, or when another handler takes over. If OnEnd()
/// was not called by then, there is no complete response. A ReadyReply is not shown.
class ReplyTap {
 public:
  virtual ~ReplyTap() = default;

  /// Called first, and once, when the response begins.
  /// @param head status and fields; its body follows by OnBody() and OnFile()
  virtual void OnHead(const Response& head) noexcept = 0;

  /// Called for each piece of the body, without chunk framing.
  virtual void OnBody(std::string_view /*bytes*/) noexcept {}

  /// Called for each piece of the body that is a part of a file.
  virtual void OnFile() noexcept {}

  /// Called when Exchange::Abort() responds in the handler's place with an error page of this
  /// status. No other call comes, because the handler's own response is not known.
  virtual void OnAbort(int /*status*/) noexcept {}

  /// Called when the response is complete. It may be an error response.
  virtual void OnEnd() noexcept {}

 protected:
  ReplyTap() = default;
  ReplyTap(const ReplyTap&) = default;
  auto operator=(const ReplyTap&) -> ReplyTap& = default;
};

}  // namespace TURTLE_SERVER
