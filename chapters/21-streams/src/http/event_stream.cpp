#include "http/event_stream.h"

#include <cstddef>
#include <stdexcept>

namespace TURTLE_SERVER {

namespace {

constexpr std::string_view kLineEnds = "\r\n";

auto HasLineEnd(std::string_view text) -> bool {
  return text.find_first_of(kLineEnds) != std::string_view::npos;
}

void AppendField(std::string_view name, std::string_view value, std::string& out) {
  // A reader drops one space; a second one, which belongs to the value, stays.
  out.append(name).append(": ").append(value).append("\n");
}

// Appends a field for each line of `text`: one more than it has line ends.
void AppendLines(std::string_view name, std::string_view text, std::string& out) {
  std::size_t end = text.find_first_of(kLineEnds);
  while (end != std::string_view::npos) {
    AppendField(name, text.substr(0, end), out);
    text.remove_prefix(end + (text.substr(end, 2) == kLineEnds ? 2 : 1));
    end = text.find_first_of(kLineEnds);
  }
  AppendField(name, text, out);
}

}  // namespace

void AppendEvent(const ServerEvent& event, std::string& out) {
  if (HasLineEnd(event.type)) {
    throw std::invalid_argument("the type of an event has a line end");
  }
  // Readers ignore an id with NUL.
  if (event.id && (HasLineEnd(*event.id) || event.id->find('\0') != std::string_view::npos)) {
    throw std::invalid_argument("the id of an event has a line end or NUL");
  }
  if (event.retry && event.retry->count() < 0) {
    throw std::invalid_argument("the retry time of an event is negative");
  }
  if (!event.type.empty()) {
    AppendField("event", event.type, out);
  }
  if (event.id) {
    AppendField("id", *event.id, out);
  }
  if (event.retry) {
    AppendField("retry", std::to_string(event.retry->count()), out);
  }
  if (event.data) {
    AppendLines("data", *event.data, out);
  }
  out += '\n';
}

void AppendComment(std::string_view text, std::string& out) { AppendLines("", text, out); }

auto LastEventId(const Headers& fields) -> std::optional<std::string_view> {
  return fields.Find("Last-Event-ID");
}

}  // namespace TURTLE_SERVER
