// ASCII as HTTP sees it: no locale, no sign extension, no surprises from <cctype>.
//
// std::isalpha() depends on the locale, and is undefined for a negative char. A stranger may send
// any byte, even one that is negative as a char.
//
// Interface:
//  * IsDigit(), IsToken(), HexValue(): classify a byte.
//  * ToLower(), EqualIgnoreCase(), TrimOws(): compare and strip as HTTP does.
//
// Thread: pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "base/namespace.h"

namespace TURTLE_SERVER::ascii {

/// True for '0' to '9'.
constexpr auto IsDigit(char c) -> bool { return c >= '0' && c <= '9'; }

/// True for 'A' to 'Z' and 'a' to 'z'.
constexpr auto IsLetter(char c) -> bool { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// True for the control characters 0x00 to 0x1F and 0x7F.
constexpr auto IsControl(char c) -> bool {
  return static_cast<unsigned char>(c) < 0x20 || c == '\x7f';
}

/// Returns the value of a hexadecimal digit, 0 to 15; -1 for any other byte.
constexpr auto HexValue(char c) -> int {
  if (IsDigit(c)) {
    return c - '0';
  }
  if (c >= 'a' && c <= 'f') {
    return c - 'a' + 10;
  }
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/// Returns the lower-case letter of an upper-case one; any other byte as it is.
constexpr auto ToLower(char c) -> char {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}

namespace detail {

constexpr auto MakeTokenTable() -> std::array<bool, 256> {
  std::array<bool, 256> table{};
  for (std::size_t c = 0; c < 128; ++c) {
    table[c] = IsLetter(static_cast<char>(c)) || IsDigit(static_cast<char>(c));
  }
  for (char c : std::string_view("!#$%&'*+-.^_`|~")) {
    table[static_cast<unsigned char>(c)] = true;
  }
  return table;
}

inline constexpr std::array<bool, 256> kTokenTable = MakeTokenTable();

}  // namespace detail

/// True for the characters of a token: methods and field names (RFC 9110, section 5.6.2).
constexpr auto IsToken(char c) -> bool {
  return detail::kTokenTable[static_cast<unsigned char>(c)];
}

/// Compares as HTTP compares field names and most of its keywords: only A-Z have a case.
constexpr auto EqualIgnoreCase(std::string_view a, std::string_view b) -> bool {
  if (a.size() != b.size()) {
    return false;
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i] && ToLower(a[i]) != ToLower(b[i])) {
      return false;
    }
  }
  return true;
}

/// True for a space or a tab, which HTTP calls optional whitespace (RFC 9110, section 5.6.3).
constexpr auto IsOws(char c) -> bool { return c == ' ' || c == '\t'; }

/// Returns `text` without the spaces and tabs at both ends: a view into the same bytes.
constexpr auto TrimOws(std::string_view text) -> std::string_view {
  while (!text.empty() && IsOws(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && IsOws(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

}  // namespace TURTLE_SERVER::ascii
