// Sends server-sent events to one client (http/event_stream.h).
//
//   server.Get("/events", [&](const ServerRequest&, const Responder& responder) {
//     Keep(EventChannel(responder));
//   });
//
// Interface:
//  * Send() sends an event; Comment() keeps an idle connection alive.
//
// It lasts until the client or the last copy is gone; clients then reconnect. To learn at once that
// the client is gone, call Responder::OnGone() before you make the channel.
//
// Thread: any.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "http/event_stream.h"
#include "web/reply_stream.h"
#include "web/responder.h"

namespace TURTLE_SERVER {

/// Sends events to one client. Copies share the connection.
class EventChannel {
 public:
  /// Begins the response.
  /// @param responder of the request
  /// @param head fields besides Content-Type and Cache-Control
  explicit EventChannel(const Responder& responder, ServerResponse head = ServerResponse()) {
    head.Set("Content-Type", kEventStreamType).Set("Cache-Control", "no-store");
    stream_ = responder.Stream(std::move(head));
  }

  /// Sends an event. Throws as AppendEvent() and ReplyStream::Write() do.
  auto Send(const ServerEvent& event) const -> StreamState {
    std::string text;
    AppendEvent(event, text);
    return stream_.Write(text);
  }

  /// Sends a comment, which scripts on a page don't see.
  auto Comment(std::string_view text = {}) const -> StreamState {
    std::string line;
    AppendComment(text, line);
    return stream_.Write(line);
  }

  /// Ends the response; the client reconnects after a while.
  void End() const { stream_.End(); }

  /// Returns the underlying stream.
  [[nodiscard]] auto Stream() const noexcept -> const ReplyStream& { return stream_; }

 private:
  ReplyStream stream_;
};

}  // namespace TURTLE_SERVER
