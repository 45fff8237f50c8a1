// Server-sent events: the text by which a server tells a page its news (WHATWG HTML, section 9.2).
// The response has the type text/event-stream, has no end, and consists of blocks of lines:
//
//     event: price
//     id: 17
//     data: first line
//     data: second line
//     (an empty line)
//
// Interface:
//  * AppendEvent() writes one block, AppendComment() a line that readers ignore.
//  * LastEventId() returns what a reader that has lost its connection saw last.
//
// A line end would end a field here, and begin another of somebody else's choice. In `data` it
// separates lines; in a type or an id it can't be written, so it is refused. Texts are UTF-8: a
// reader replaces invalid bytes by U+FFFD.
//
// Thread: pure functions; only appending allocates.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "http/headers.h"

namespace TURTLE_SERVER {

/// The Content-Type of a stream of events.
inline constexpr std::string_view kEventStreamType = "text/event-stream";

/// One event.
struct ServerEvent {
  /// The data, of any number of lines; the page gets LF for each line end, be it CR LF, CR or LF.
  /// nullopt: the page gets no event, but `id` and `retry` count.
  std::optional<std::string_view> data{};
  std::string_view type{};  ///< For addEventListener(); "" means "message". No CR, no LF.
  /// The value of Last-Event-ID from now on; "": none any more. nullopt: unchanged. No CR, no LF,
  /// no NUL.
  std::optional<std::string_view> id{};
  /// How long the reader waits before it reconnects; not negative. nullopt: unchanged.
  std::optional<std::chrono::milliseconds> retry{};
};

/// Appends the lines of an event and the empty line that ends it.
///
/// Throws std::invalid_argument, and appends nothing, if the type, the id or `retry` is invalid.
/// @param event the event to write
/// @param out is appended to
void AppendEvent(const ServerEvent& event, std::string& out);

/// Appends a comment: a line for each line of `text`. An empty one, every 15 seconds or so, keeps
/// proxies from taking the connection for dead, and shows the server whether it is.
void AppendComment(std::string_view text, std::string& out);

/// Returns the id of the last event that a reconnecting reader has seen; nullopt, or "", if none.
/// It is the client's word: any bytes that a field may have. A view into the fields.
[[nodiscard]] auto LastEventId(const Headers& fields) -> std::optional<std::string_view>;

}  // namespace TURTLE_SERVER
