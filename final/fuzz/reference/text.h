// The characters of HTTP, as their RFCs list them, and other parts that every reference needs.
//
// A reference reads the same text as a fast parser of the library, but slowly and by the rules of
// the grammar. It shares no code with the library: mistakes of the two are independent.
//
// Thread: pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace TURTLE_SERVER::reference {

/// True for ALPHA (RFC 5234, appendix B.1).
inline auto IsAlpha(char c) -> bool { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

/// True for DIGIT.
inline auto IsDigit(char c) -> bool { return c >= '0' && c <= '9'; }

/// True for HEXDIG, in either case.
inline auto IsHex(char c) -> bool {
  return std::string_view("0123456789abcdefABCDEF").find(c) != std::string_view::npos;
}

/// True for CTL.
inline auto IsCtl(char c) -> bool { return (c >= 0 && c < 32) || c == 127; }

/// True for tchar (RFC 9110, section 5.6.2).
inline auto IsTchar(char c) -> bool {
  return IsAlpha(c) || IsDigit(c) ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

/// True for VCHAR (RFC 5234, appendix B.1).
inline auto IsVchar(char c) -> bool { return c > 32 && c < 127; }

/// True for a non-empty text of characters for which `is` holds.
template <typename Is>
auto IsAll(std::string_view text, Is is) -> bool {
  for (const char c : text) {
    if (!is(c)) {
      return false;
    }
  }
  return !text.empty();
}

/// Returns how many characters at the beginning of `text` satisfy `is`.
template <typename Is>
auto Prefix(std::string_view text, Is is) -> std::size_t {
  std::size_t count = 0;
  while (count < text.size() && is(text[count])) {
    ++count;
  }
  return count;
}

/// Removes OWS at both ends (RFC 9110, section 5.6.3).
inline auto Trim(std::string_view text) -> std::string_view {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == std::string_view::npos
             ? std::string_view()
             : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// Converts to lower case.
inline auto Lower(std::string_view text) -> std::string {
  std::string lower;
  for (const char c : text) {
    lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return lower;
}

/// Returns the pieces between separators: one more than there are separators.
inline auto Split(std::string_view text, std::string_view separator)
    -> std::vector<std::string_view> {
  std::vector<std::string_view> pieces;
  std::size_t at = 0;
  for (std::size_t end = 0; (end = text.find(separator, at)) != std::string_view::npos;) {
    pieces.push_back(text.substr(at, end - at));
    at = end + separator.size();
  }
  pieces.push_back(text.substr(at));
  return pieces;
}

/// Returns the elements of a comma-separated list without surrounding whitespace, even empty ones.
inline auto Elements(std::string_view list) -> std::vector<std::string_view> {
  std::vector<std::string_view> elements;
  for (const std::string_view piece : Split(list, ",")) {
    elements.push_back(Trim(piece));
  }
  return elements;
}

/// Returns a decimal number of any size as text without leading zeros; "" if it is not a number.
inline auto Decimal(std::string_view text) -> std::string {
  if (!IsAll(text, IsDigit)) {
    return "";
  }
  const std::size_t first = text.find_first_not_of('0');
  return first == std::string_view::npos ? "0" : std::string(text.substr(first));
}

/// Compares two such numbers.
inline auto IsLess(const std::string& a, const std::string& b) -> bool {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

}  // namespace TURTLE_SERVER::reference
