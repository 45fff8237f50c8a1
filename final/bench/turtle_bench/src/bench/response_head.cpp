#include "bench/response_head.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>

#include "base/ascii.h"

namespace TURTLE_SERVER {

namespace {

constexpr std::string_view kLineEnd = "\r\n";

auto TakeLine(std::string_view& text) -> std::string_view {
  const std::size_t end = std::min(text.find(kLineEnd), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + kLineEnd.size(), text.size()));
  return line;
}

// "HTTP/1.1 200 OK"; the reason may be empty, and some servers leave its space away too.
auto ParseStatusLine(std::string_view line, ResponseHead& out) -> const char* {
  constexpr std::size_t kStatusAt = 9;
  constexpr std::size_t kStatusEnd = 12;
  const std::string_view version = line.substr(0, kStatusAt);
  if (version != "HTTP/1.1 " && version != "HTTP/1.0 ") {
    return "the response does not begin with HTTP/1.1 or HTTP/1.0";
  }
  if (line.size() < kStatusEnd || (line.size() > kStatusEnd && line[kStatusEnd] != ' ')) {
    return "malformed status line";
  }
  for (const char c : line.substr(kStatusAt, kStatusEnd - kStatusAt)) {
    if (!ascii::IsDigit(c)) {
      return "malformed status line";
    }
    out.status = out.status * 10 + (c - '0');
  }
  out.keep_alive = version == "HTTP/1.1 ";
  return out.status >= 100 && out.status <= 599 ? nullptr : "the status is not 100 to 599";
}

// Calls `see` with each member of a list, "keep-alive, Upgrade".
template <typename See>
void ForEachMember(std::string_view list, See see) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    see(ascii::TrimOws(list.substr(0, comma)));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
}

// The fields that determine the body's end, before they are weighed.
struct Fields {
  std::optional<std::uint64_t> length;
  bool has_coding = false;
  bool is_chunked = false;  // the last coding
};

auto TakeLength(std::string_view value, Fields& fields) -> const char* {
  std::uint64_t length = 0;
  const char* const end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, length);
  if (error != std::errc() || stop != end || !ascii::IsDigit(value.front())) {
    return "Content-Length is not a number";
  }
  if (fields.length && *fields.length != length) {
    return "there are two lengths";
  }
  fields.length = length;
  return nullptr;
}

auto TakeField(std::string_view line, ResponseHead& out, Fields& fields) -> const char* {
  const std::size_t colon = line.find(':');
  const std::string_view name = line.substr(0, colon);
  if (colon == std::string_view::npos || name.empty() ||
      !std::all_of(name.begin(), name.end(), ascii::IsToken)) {
    return "malformed field";
  }
  const std::string_view value = ascii::TrimOws(line.substr(colon + 1));
  if (std::any_of(value.begin(), value.end(),
                  [](char c) { return ascii::IsControl(c) && c != '\t'; })) {
    return "a field has a control character";
  }
  if (ascii::EqualIgnoreCase(name, "content-length")) {
    return TakeLength(value, fields);
  }
  if (ascii::EqualIgnoreCase(name, "transfer-encoding")) {
    fields.has_coding = true;
    ForEachMember(value, [&](std::string_view coding) {
      fields.is_chunked = ascii::EqualIgnoreCase(coding, "chunked");
    });
  } else if (ascii::EqualIgnoreCase(name, "connection")) {
    bool closes = false;
    bool keeps = false;
    ForEachMember(value, [&](std::string_view option) {
      closes = closes || ascii::EqualIgnoreCase(option, "close");
      keeps = keeps || ascii::EqualIgnoreCase(option, "keep-alive");
    });
    out.keep_alive = !closes && (out.keep_alive || keeps);
  }
  return nullptr;
}

}  // namespace

auto ParseResponseHead(std::string_view head, bool to_head, ResponseHead& out) -> const char* {
  out = ResponseHead();
  if (const char* fault = ParseStatusLine(TakeLine(head), out)) {
    return fault;
  }
  Fields fields;
  for (std::string_view line = TakeLine(head); !line.empty(); line = TakeLine(head)) {
    if (const char* fault = TakeField(line, out, fields)) {
      return fault;
    }
  }
  if (fields.has_coding && fields.length) {
    return "both Content-Length and Transfer-Encoding";
  }
  out.length = fields.length.value_or(0);
  if (to_head || out.status < 200 || out.status == 204 || out.status == 304) {
    out.end = BodyEnd::kNone;
  } else if (fields.is_chunked) {
    out.end = BodyEnd::kChunked;
  } else if (fields.length) {
    out.end = BodyEnd::kLength;
  } else {
    out.end = BodyEnd::kToEnd;
    out.keep_alive = false;
  }
  return nullptr;
}

}  // namespace TURTLE_SERVER
