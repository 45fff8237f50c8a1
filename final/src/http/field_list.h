// Reading a field value that is a list: "a, b, c" (RFC 9110, section 5.6.1).
//
// Thread: a pure function.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/ascii.h"

namespace TURTLE_SERVER {

/// Cuts the first element off a comma-separated list that holds no quoted strings.
/// @param rest The list; becomes what follows the first comma, or "".
/// @return The element without the whitespace around it; "" for an empty element.
inline auto TakeListElement(std::string_view& rest) -> std::string_view {
  const std::size_t comma = rest.find(',');
  const std::string_view element = ascii::TrimOws(rest.substr(0, comma));
  rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  return element;
}

}  // namespace TURTLE_SERVER
