// Three ways to cut a request's head into its parts, and nothing more: for parser_kinds_bench.
//
// All three give the same Tokens and refuse the same heads (bytes that may not stand where they
// do). None recognises names, decodes the target or looks at Host and framing; HttpParser does.
//
// Interface:
//  * ByteTokeniser, VectorTokeniser: written by hand, a loop for each part; the second looks at
//    sixteen bytes at once where the processor can.
//  * TableTokeniser: one loop for all; a table says for state and class of byte what comes next.
//
// Thread: pure functions but for the Tokens.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/ascii.h"
#include "base/field_scan.h"

namespace TURTLE_SERVER::bench {

/// The parts of a head, as views into it.
struct Tokens {
  /// One line of the fields.
  struct Field {
    std::string_view name;   ///< Up to the colon.
    std::string_view value;  ///< With trailing whitespace, without leading.
  };
  static constexpr std::size_t kMaxFields = 100;

  std::string_view method;               ///< "GET"
  std::string_view target;               ///< As sent.
  std::string_view version;              ///< "HTTP/1.1"
  std::size_t size = 0;                  ///< How many fields.
  std::array<Field, kMaxFields> fields;  ///< The first `size` of them are set.
};

namespace detail {

inline auto Text(const char* from, const char* to) -> std::string_view {
  return {from, static_cast<std::size_t>(to - from)};
}

struct ByteScan {
  static constexpr auto SkipToken = scan::portable::SkipToken;
  static constexpr auto SkipTargetText = scan::portable::SkipTargetText;
  static constexpr auto SkipFieldText = scan::portable::SkipFieldText;
};

struct VectorScan {
  static constexpr auto SkipToken = scan::SkipToken;
  static constexpr auto SkipTargetText = scan::SkipTargetText;
  static constexpr auto SkipFieldText = scan::SkipFieldText;
};

/// Scans part after part, as one would write it by hand.
template <class Scan>
auto Tokenise(std::string_view head, Tokens& out) -> bool {
  const char* at = head.data();
  const char* const end = at + head.size();
  const auto part = [&](auto skip, char stop, std::string_view& text) {
    const char* const begin = at;
    at = skip(at, end);
    text = Text(begin, at);
    return at != end && *at++ == stop && !text.empty();
  };
  out.size = 0;
  if (!part(Scan::SkipToken, ' ', out.method) || !part(Scan::SkipTargetText, ' ', out.target) ||
      !part(Scan::SkipTargetText, '\r', out.version)) {
    return false;
  }
  while (at != end && *at++ == '\n') {
    if (at != end && *at == '\r') {
      return end - at > 1 && at[1] == '\n';
    }
    if (out.size == Tokens::kMaxFields) {
      return false;
    }
    Tokens::Field& field = out.fields[out.size++];
    if (!part(Scan::SkipToken, ':', field.name)) {
      return false;
    }
    while (at != end && ascii::IsOws(*at)) {
      ++at;
    }
    const char* const begin = at;
    at = Scan::SkipFieldText(at, end);
    field.value = Text(begin, at);
    if (at == end || *at++ != '\r') {
      return false;
    }
  }
  return false;
}

// The classes of bytes, and the states between them.
enum Class : std::uint8_t {
  kOther,
  kBlank,
  kTab,
  kCr,
  kLf,
  kColon,
  kToken,
  kVisible,
  kHigh,
  kClasses
};
enum State : std::uint8_t {
  kMethodStart,
  kMethod,
  kTargetStart,
  kTarget,
  kVersionStart,
  kVersion,
  kLineEnd,
  kLineStart,
  kName,
  kBeforeValue,
  kValue,
  kLastLineEnd,
  kDone,
  kBad,
  kStates
};
using Table = std::array<std::array<std::uint8_t, kClasses>, kStates>;

constexpr auto MakeClasses() -> std::array<std::uint8_t, 256> {
  std::array<std::uint8_t, 256> classes{};
  for (std::size_t c = 0; c < 256; ++c) {
    const char byte = static_cast<char>(c);
    classes[c] = c >= 0x80                ? kHigh
                 : byte == ' '            ? kBlank
                 : byte == '\t'           ? kTab
                 : byte == '\r'           ? kCr
                 : byte == '\n'           ? kLf
                 : byte == ':'            ? kColon
                 : ascii::IsToken(byte)   ? kToken
                 : ascii::IsControl(byte) ? kOther
                                          : kVisible;
  }
  return classes;
}

constexpr auto MakeTable() -> Table {
  Table table{};
  for (auto& row : table) {
    for (std::uint8_t& next : row) {
      next = kBad;
    }
  }
  table[kMethodStart][kToken] = table[kMethod][kToken] = kMethod;
  table[kMethod][kBlank] = kTargetStart;
  for (Class visible : {kColon, kToken, kVisible}) {
    table[kTargetStart][visible] = table[kTarget][visible] = kTarget;
    table[kVersionStart][visible] = table[kVersion][visible] = kVersion;
  }
  table[kTarget][kBlank] = kVersionStart;
  table[kVersion][kCr] = kLineEnd;
  table[kLineEnd][kLf] = kLineStart;
  table[kLineStart][kCr] = kLastLineEnd;
  table[kLineStart][kToken] = table[kName][kToken] = kName;
  table[kName][kColon] = kBeforeValue;
  for (Class text : {kColon, kToken, kVisible, kHigh}) {
    table[kBeforeValue][text] = table[kValue][text] = kValue;
  }
  table[kBeforeValue][kBlank] = table[kBeforeValue][kTab] = kBeforeValue;
  table[kValue][kBlank] = table[kValue][kTab] = kValue;
  table[kBeforeValue][kCr] = table[kValue][kCr] = kLineEnd;
  table[kLastLineEnd][kLf] = kDone;
  return table;
}

inline constexpr std::array<std::uint8_t, 256> kClassOf = MakeClasses();
inline constexpr Table kNext = MakeTable();

}  // namespace detail

/// Written by hand, byte by byte.
inline auto ByteTokeniser(std::string_view head, Tokens& out) -> bool {
  return detail::Tokenise<detail::ByteScan>(head, out);
}

/// The same with sixteen bytes at a time.
inline auto VectorTokeniser(std::string_view head, Tokens& out) -> bool {
  return detail::Tokenise<detail::VectorScan>(head, out);
}

/// Driven by a table: two loads for each byte, and a branch only where the state changes.
inline auto TableTokeniser(std::string_view head, Tokens& out) -> bool {
  out.size = 0;
  std::uint8_t state = detail::kMethodStart;
  const char* begin = head.data();
  for (const char& byte : head) {
    const std::uint8_t next =
        detail::kNext[state][detail::kClassOf[static_cast<unsigned char>(byte)]];
    if (next == state) {
      continue;
    }
    const std::string_view text = detail::Text(begin, &byte);
    begin = &byte;
    switch (state) {
      case detail::kMethod:
        out.method = text;
        break;
      case detail::kTarget:
        out.target = text;
        break;
      case detail::kVersion:
        out.version = text;
        break;
      case detail::kName:
        if (out.size == Tokens::kMaxFields) {
          return false;
        }
        out.fields[out.size].name = text;
        break;
      case detail::kBeforeValue:
        if (next == detail::kLineEnd) {
          out.fields[out.size++].value = detail::Text(&byte, &byte);
        }
        break;
      case detail::kValue:
        out.fields[out.size++].value = text;
        break;
      default:
        break;
    }
    if (next >= detail::kDone) {
      return next == detail::kDone;
    }
    state = next;
  }
  return false;
}

}  // namespace TURTLE_SERVER::bench
