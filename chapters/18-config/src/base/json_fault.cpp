#include "base/json_fault.h"

#include <algorithm>

namespace TURTLE_SERVER {

namespace {

auto ReasonFor(char found) -> std::string {
  if (found > ' ' && found <= '~') {
    return std::string("unexpected '") + found + "'";
  }
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(found);
  return std::string("unexpected byte 0x") + kDigits[byte / 16] + kDigits[byte % 16];
}

}  // namespace

auto FindJsonFault(std::string_view text, std::size_t byte) -> JsonFault {
  const std::string_view before =
      text.substr(0, std::min(std::max<std::size_t>(byte, 1) - 1, text.size()));
  const auto newlines = std::count(before.begin(), before.end(), '\n');
  const std::size_t line_begin = before.rfind('\n') + 1;  // npos + 1 is 0
  return {static_cast<std::size_t>(newlines) + 1, before.size() - line_begin + 1,
          before.size() == text.size() ? "unexpected end" : ReasonFor(text[before.size()])};
}

}  // namespace TURTLE_SERVER
