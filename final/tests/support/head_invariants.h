// Invariants of the parser that hold for every input, however strange: for fuzzers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ascii.h"
#include "http/http_parser.h"
#include "support/parse_head.h"

namespace TURTLE_SERVER::test {

/// Returns the fault of a path from Uri::Path(), found without the parser's code; "" if there is
/// none.
inline auto FaultOfPath(std::string_view path) -> std::string {
  if (path.empty() || path.front() != '/') {
    return "path without a slash";
  }
  for (const char c : path) {
    if (ascii::IsControl(c) || c == '\\') {
      return "forbidden character in the path";
    }
  }
  const std::string closed = std::string(path) + "/";
  for (const char* part : {"/./", "/../"}) {
    if (closed.find(part) != std::string::npos) {
      return "dot segment in the path";
    }
  }
  return path.find("//") == std::string_view::npos ? "" : "empty segment in the path";
}

/// Returns the fault of an accepted head; "" if there is none. `head` contains all bytes of that
/// head.
inline auto FaultOfAccepted(const Request& request, std::string_view head) -> std::string {
  if (head.size() < 4 || head.substr(head.size() - 4) != "\r\n\r\n") {
    return "accepted without an empty line";
  }
  for (std::size_t i = 0; i < head.size(); ++i) {
    if (head[i] == '\0' || (head[i] == '\n' && (i == 0 || head[i - 1] != '\r')) ||
        (head[i] == '\r' && (i + 1 == head.size() || head[i + 1] != '\n'))) {
      return "accepted a NUL, a bare CR or a bare LF";
    }
  }
  std::size_t hosts = 0;
  std::size_t lengths = 0;
  std::size_t encodings = 0;
  for (const HeaderField& field : request.headers) {
    hosts += ascii::EqualIgnoreCase(field.name, "host") ? 1U : 0U;
    lengths += ascii::EqualIgnoreCase(field.name, "content-length") ? 1U : 0U;
    encodings += ascii::EqualIgnoreCase(field.name, "transfer-encoding") ? 1U : 0U;
    for (const char c : field.name) {
      if (!ascii::IsToken(c)) {
        return "accepted a bad field name";
      }
    }
    for (const char c : field.value) {
      if (ascii::IsControl(c) && c != '\t') {
        return "accepted a control character in a value";
      }
    }
  }
  if (hosts > 1 || (hosts == 0 && request.minor_version > 0)) {
    return "accepted a wrong number of Host";
  }
  if (lengths + encodings > 1) {
    return "accepted a doubtful framing";
  }
  const BodyKind kind = lengths == 1     ? BodyKind::kLength
                        : encodings == 1 ? BodyKind::kChunked
                                         : BodyKind::kNone;
  if (request.framing.kind != kind) {
    return "framing and fields differ";
  }
  const TargetForm form = request.uri.Form();
  const bool has_path = form == TargetForm::kOrigin || form == TargetForm::kAbsolute;
  return has_path ? FaultOfPath(request.uri.Path()) : "";
}

/// Parses `input` whole and as cut by `sizes`. Returns the fault of the results, "" if there is
/// none, and sets `verdict` to the verdict on the whole.
inline auto FaultOfParsing(std::string_view input, const std::vector<std::size_t>& sizes,
                           const ParserLimits& limits, std::string& verdict) -> std::string {
  const Outcome whole = ParseWhole(input, limits);
  verdict = whole.Verdict();
  const Outcome pieces = ParseInPieces(input, sizes, limits);
  // A fault in a head without end may be noticed later if it comes in pieces, but never differs.
  const bool is_late = pieces.Verdict() == "more" && whole.result.state == ParseState::kBad;
  if (pieces.Verdict() != verdict && !is_late) {
    return "whole: " + verdict + ", in pieces: " + pieces.Verdict();
  }
  if (Summary(pieces.request) != Summary(whole.request)) {
    return "whole and in pieces the requests differ";
  }
  switch (whole.result.state) {
    case ParseState::kDone:
      if (whole.result.head_bytes > input.size() ||
          whole.result.head_bytes != pieces.result.head_bytes) {
        return "wrong size of the head";
      }
      return FaultOfAccepted(whole.request, input.substr(0, whole.result.head_bytes));
    case ParseState::kBad: {
      const int status = whole.result.status;
      const bool known =
          status == 400 || status == 414 || status == 431 || status == 501 || status == 505;
      return known && *whole.result.reason != '\0' ? "" : "refused without a reason";
    }
    default:
      return input.size() < limits.max_head_bytes ? "" : "wants more than its limit";
  }
}

}  // namespace TURTLE_SERVER::test
