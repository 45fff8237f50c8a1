// Describes a request as text for people: shared by the examples of this chapter.
#pragma once

#include <string>
#include <string_view>

#include "http/request.h"

/// Returns several lines that say what the parser found in a request.
inline auto DescribeRequest(const turtle::Request& request) -> std::string {
  std::string text;
  const auto line = [&](std::string_view name, std::string_view value) {
    text.append("  ").append(name).append(11 - name.size(), ' ').append(value).append("\n");
  };
  text.append(request.method_text).append(" ").append(request.target);
  text.append(request.minor_version == 0 ? " HTTP/1.0\n" : " HTTP/1.1\n");
  line("path", request.uri.Path());
  if (request.uri.HasQuery()) {
    line("query", request.uri.Query());
  }
  line("host", request.host);
  switch (request.framing.kind) {
    case turtle::BodyKind::kNone:
      line("body", "none");
      break;
    case turtle::BodyKind::kLength:
      line("body", std::to_string(request.framing.length) + " bytes");
      break;
    case turtle::BodyKind::kChunked:
      line("body", "in chunks");
      break;
  }
  line("afterwards", request.keep_alive ? "keep the connection" : "close");
  for (const turtle::HeaderField& field : request.headers) {
    line("field", std::string(field.name) + " = " + std::string(field.value));
  }
  return text;
}
