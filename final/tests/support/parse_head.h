// Feeds a head to a parser as a network would: whole, byte by byte, cut anywhere.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "http/http_parser.h"

namespace TURTLE_SERVER::test {

/// The outcome of parsing an input. The request is detached: it outlives the input.
struct Outcome {
  ParseResult result;
  Request request;

  /// "done", "more" or "400 reason".
  [[nodiscard]] auto Verdict() const -> std::string {
    switch (result.state) {
      case ParseState::kDone:
        return "done";
      case ParseState::kNeedMore:
        return "more";
      default:
        return std::to_string(result.status) + " " + result.reason;
    }
  }
};

/// Returns the contents of a request as one text: equal texts mean equal requests.
inline auto Summary(const Request& request) -> std::string {
  std::string text;
  const auto add = [&](std::string_view part) { text.append(part).append("|"); };
  add(request.method_text);
  add(std::to_string(static_cast<int>(request.method)));
  add(request.target);
  add(request.uri.Path());
  add(request.uri.RawPath());
  add(request.uri.HasQuery() ? "?" : "");
  add(request.uri.Query());
  add(request.uri.Authority());
  add(std::to_string(static_cast<int>(request.uri.Form())));
  add(std::to_string(request.minor_version));
  add(request.host);
  for (const HeaderField& field : request.headers) {
    add(field.name);
    add(field.value);
    add(NameOf(field.known));
  }
  add(std::to_string(static_cast<int>(request.framing.kind)));
  add(std::to_string(request.framing.length));
  add(request.keep_alive ? "keep" : "close");
  add(std::to_string(static_cast<int>(request.expectation)));
  add(request.head);
  return text;
}

/// Shows the parser the first sizes[0], sizes[1], … bytes of `input`, ascending, until it decides.
/// Each time, the bytes are at another address, in a block that ends with them, and the Request has
/// been used for something else: the parser may rely on neither.
inline auto ParseInPieces(std::string_view input, const std::vector<std::size_t>& sizes,
                          const ParserLimits& limits = {}) -> Outcome {
  HttpParser parser(limits);
  Outcome outcome;
  for (const std::size_t size : sizes) {
    const auto block = std::make_unique<char[]>(size);
    std::copy_n(input.data(), size, block.get());
    Request request;
    request.headers.Add("left", "over");
    outcome.result = parser.Parse({block.get(), size}, request);
    if (outcome.result.state != ParseState::kNeedMore) {
      if (outcome.result.state == ParseState::kDone) {
        request.Detach();
        outcome.request = std::move(request);
      }
      break;
    }
  }
  return outcome;
}

/// Parses `input` in one piece.
inline auto ParseWhole(std::string_view input, const ParserLimits& limits = {}) -> Outcome {
  return ParseInPieces(input, {input.size()}, limits);
}

/// Parses `input` byte by byte.
inline auto ParseByteByByte(std::string_view input, const ParserLimits& limits = {}) -> Outcome {
  std::vector<std::size_t> sizes(input.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    sizes[i] = i + 1;
  }
  return ParseInPieces(input, sizes, limits);
}

/// Parses `input` whole, byte by byte and in two pieces cut anywhere; expects the same verdict and
/// request from all, and returns it.
inline auto ParseEveryWay(std::string_view input, const ParserLimits& limits = {}) -> Outcome {
  Outcome whole = ParseWhole(input, limits);
  const std::string summary = Summary(whole.request);
  const auto expect_same = [&](const Outcome& other, const std::string& how) {
    EXPECT_EQ(other.Verdict(), whole.Verdict()) << how << ": " << input;
    EXPECT_EQ(other.result.head_bytes, whole.result.head_bytes) << how << ": " << input;
    EXPECT_EQ(Summary(other.request), summary) << how << ": " << input;
  };
  expect_same(ParseByteByByte(input, limits), "byte by byte");
  for (std::size_t cut = 0; cut < input.size() && !testing::Test::HasFailure(); ++cut) {
    expect_same(ParseInPieces(input, {cut, input.size()}, limits), "cut at " + std::to_string(cut));
  }
  return whole;
}

/// Returns the status that refuses `input`, however it is cut; 0: accepted, -1: it needs more.
inline auto StatusOf(std::string_view input, const ParserLimits& limits = {}) -> int {
  const Outcome outcome = ParseEveryWay(input, limits);
  return outcome.result.state == ParseState::kNeedMore ? -1 : outcome.result.status;
}

}  // namespace TURTLE_SERVER::test
