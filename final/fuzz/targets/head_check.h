// Compares the parser of heads with the reference; for the fuzz target and for `splits`.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "http/http_parser.h"
#include "reference/head.h"
#include "targets/check.h"

namespace TURTLE_SERVER::fuzz {

/// Returns a verdict and everything that was read, as one text.
inline auto Describe(const ParseResult& result, const Request& request) -> std::string {
  switch (result.state) {
    case ParseState::kNeedMore:
      return "more";
    case ParseState::kBad:
      return std::to_string(result.status);
    case ParseState::kDone:
      break;
  }
  constexpr std::string_view kForms = "oac*";
  constexpr std::string_view kFramings = "nlc";
  constexpr std::string_view kExpectations = "ncu";
  std::string text = "head of " + std::to_string(result.head_bytes) + " bytes\n";
  const auto add = [&](std::string_view name, std::string_view value) {
    text.append(name).append("=").append(value).append("\n");
  };
  add("method", request.method_text);
  add("target", request.target);
  add("form", kForms.substr(static_cast<std::size_t>(request.uri.Form()), 1));
  add("path", request.uri.Path());
  add("query", std::string(request.uri.HasQuery() ? "?" : "").append(request.uri.Query()));
  add("authority", request.uri.Authority());
  add("minor", std::to_string(request.minor_version));
  add("host", request.host);
  for (const HeaderField& field : request.headers) {
    add(field.name, field.value);
  }
  add("framing", kFramings.substr(static_cast<std::size_t>(request.framing.kind), 1));
  add("length", std::to_string(request.framing.length));
  add("keep", request.keep_alive ? "yes" : "no");
  add("expect", kExpectations.substr(static_cast<std::size_t>(request.expectation), 1));
  return text;
}

/// Returns the same for the reference.
inline auto Describe(const reference::Head& head) -> std::string {
  if (head.status != 0) {
    return head.status < 0 ? "more" : std::to_string(head.status);
  }
  std::string text = "head of " + std::to_string(head.bytes) + " bytes\n";
  const auto add = [&](std::string_view name, std::string_view value) {
    text.append(name).append("=").append(value).append("\n");
  };
  add("method", head.method);
  add("target", head.target);
  add("form", std::string(1, head.uri.form));
  add("path", head.uri.path);
  add("query", (head.uri.has_query ? "?" : "") + head.uri.query);
  add("authority", head.uri.authority);
  add("minor", std::to_string(head.minor));
  add("host", head.host);
  for (const auto& [name, value] : head.fields) {
    add(name, value);
  }
  add("framing", std::string(1, head.framing));
  add("length", head.framing == 'l' ? head.length : "0");
  add("keep", head.keep_alive ? "yes" : "no");
  add("expect", std::string(1, head.expectation));
  return text;
}

/// Shows a parser the first sizes[0], sizes[1], … bytes of `input`, each time at another address,
/// until it decides. @return as Describe()
inline auto ParseInPieces(std::string_view input, const std::vector<std::size_t>& sizes,
                          const ParserLimits& limits) -> std::string {
  HttpParser parser(limits);
  std::string last = "more";
  for (const std::size_t size : sizes) {
    // A block of exactly that size, so that the address sanitizer sees a read beyond its end.
    const auto block = std::make_unique<char[]>(size);
    input.copy(block.get(), size);
    Request request;
    const ParseResult result = parser.Parse({block.get(), size}, request);
    last = Describe(result, request);
    if (result.state != ParseState::kNeedMore) {
      break;
    }
  }
  return last;
}

/// Parses `input` whole, and aborts if the reference disagrees. @return as Describe()
inline auto ParseWhole(std::string_view input, const ParserLimits& limits) -> std::string {
  const std::string library = ParseInPieces(input, {input.size()}, limits);
  const reference::Head head = reference::ReadHead(
      input, {limits.max_target_bytes, limits.max_head_bytes, limits.max_fields});
  if (head.status >= 0) {
    Same("head", library, Describe(head));
  } else if (library.compare(0, 4, "head") == 0) {
    Fail("a head is accepted though its end is not there");
  } else if (library == "more" && input.size() >= limits.max_head_bytes) {
    Fail("more is wanted beyond the limit");
  }
  return library;
}

/// Aborts if the verdict on some cut of `input` is not `whole`. Only a fault in a head without its
/// end may be noticed later than in one piece.
inline void CheckPieces(std::string_view input, const std::vector<std::size_t>& sizes,
                        const ParserLimits& limits, const std::string& whole) {
  const std::string pieces = ParseInPieces(input, sizes, limits);
  if (pieces == whole || (pieces == "more" && whole.size() == 3)) {
    return;
  }
  std::string cuts;
  for (const std::size_t size : sizes) {
    cuts += " " + std::to_string(size);
  }
  Fail("whole: " + whole + "\nshown" + cuts + ": " + pieces);
}

}  // namespace TURTLE_SERVER::fuzz
