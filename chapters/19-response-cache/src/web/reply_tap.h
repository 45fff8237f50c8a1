// Hears a response while it is made: for a cache that keeps it.
//
// Thread: the loop's.
#pragma once

#include <string_view>

#include "base/namespace.h"

namespace TURTLE_SERVER {

class Response;

/// Hears the response of one exchange (Exchange::Tap()), after each part has been given to the
/// connection. It is destroyed with the exchange, or when another handler is to answer; if OnEnd()
/// was not called by then, there is no whole response. A ReadyReply is not heard.
class ReplyTap {
 public:
  virtual ~ReplyTap() = default;

  /// The response begins. Comes once, and first.
  /// @param head status and fields; its body follows by OnBody() and OnFile()
  virtual void OnHead(const Response& head) noexcept = 0;

  /// A piece of the body, without chunks around it.
  virtual void OnBody(std::string_view /*bytes*/) noexcept {}

  /// A piece of the body that is a part of a file.
  virtual void OnFile() noexcept {}

  /// Exchange::Abort() answers in the handler's place, by an error page of this status. Comes
  /// alone: what the handler would have said is not known.
  virtual void OnAbort(int /*status*/) noexcept {}

  /// The response is complete. It may be one that says that something failed.
  virtual void OnEnd() noexcept {}

 protected:
  ReplyTap() = default;
  ReplyTap(const ReplyTap&) = default;
  auto operator=(const ReplyTap&) -> ReplyTap& = default;
};

}  // namespace TURTLE_SERVER
