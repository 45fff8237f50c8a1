#include "web/event_channel.h"

namespace TURTLE_SERVER {

EventChannel::EventChannel(const Responder& responder, ServerResponse head) {
  head.Set("Content-Type", kEventStreamType).Set("Cache-Control", "no-store");
  stream_ = responder.Stream(std::move(head));
}

auto EventChannel::Send(const ServerEvent& event) const -> StreamState {
  std::string text;
  AppendEvent(event, text);
  return stream_.Write(text);
}

auto EventChannel::Comment(std::string_view text) const -> StreamState {
  std::string line;
  AppendComment(text, line);
  return stream_.Write(line);
}

}  // namespace TURTLE_SERVER
