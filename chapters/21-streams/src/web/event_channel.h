// Server-sent events to one client (http/event_stream.h).
//
//   server.Get("/events", [&](const ServerRequest&, const Responder& responder) {
//     Keep(EventChannel(responder));
//   });
//
// Interface:
//  * Send() sends an event, Comment() keeps the connection from being taken for dead.
//
// It lasts until the client goes, or the last copy does; clients connect again then. To learn at
// once that the client has gone, call OnGone() of the Responder before you make the channel of it.
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

/// One client that listens. Copies share it.
class EventChannel {
 public:
  /// Begins the response.
  /// @param responder of the request
  /// @param head fields besides Content-Type and Cache-Control
  explicit EventChannel(const Responder& responder, ServerResponse head = ServerResponse()) {
    head.Set("Content-Type", kEventStreamType).Set("Cache-Control", "no-store");
    stream_ = responder.Stream(std::move(head));
  }

  /// Tells the client of an event. Throws as AppendEvent() and ReplyStream::Write().
  auto Send(const ServerEvent& event) const -> StreamState {
    std::string text;
    AppendEvent(event, text);
    return stream_.Write(text);
  }

  /// Sends a comment, which pages don't see.
  auto Comment(std::string_view text = {}) const -> StreamState {
    std::string line;
    AppendComment(text, line);
    return stream_.Write(line);
  }

  /// Ends it; the client connects again after a while.
  void End() const { stream_.End(); }

  /// The stream beneath.
  [[nodiscard]] auto Stream() const noexcept -> const ReplyStream& { return stream_; }

 private:
  ReplyStream stream_;
};

}  // namespace TURTLE_SERVER
