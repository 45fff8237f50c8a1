// Parses numbers given on a command line.
//
// std::atoi() makes 0 of "x" and 80 of "80x": a server with a typo in its port then listens on a
// port that nobody chose.
//
// Thread: pure functions.
#pragma once

#include <charconv>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Parses a whole number.
/// @param what the name of the argument, for the message
/// @param text what the user typed
/// @param lowest the smallest number accepted
/// @param highest the largest
/// @throws std::invalid_argument, such as `port "80x": not a number from 0 to 65535`
template <typename Number>
[[nodiscard]] auto ReadNumber(std::string_view what, std::string_view text, Number lowest,
                              Number highest) -> Number {
  Number number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  if (error != std::errc() || end != last || number < lowest || number > highest) {
    throw std::invalid_argument(std::string(what) + " \"" + std::string(text) +
                                "\": not a number from " + std::to_string(lowest) + " to " +
                                std::to_string(highest));
  }
  return number;
}

/// Parses a port, as ReadNumber() does.
[[nodiscard]] inline auto ReadPort(std::string_view text) -> int {
  return ReadNumber("port", text, 0, 65'535);
}

}  // namespace TURTLE_SERVER
