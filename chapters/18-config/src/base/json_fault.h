// Where a text stops being JSON, and what is found there, in words of our own.
//
// The parser's messages change from version to version, and quote what has been read: that may be a
// password, or a stranger's bytes. Of its exceptions only the documented position is used.
// https://json.nlohmann.me/home/exceptions/#parse-errors
//
// Thread: pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// The place at which a text is no JSON.
struct JsonFault {
  std::size_t line;    ///< the first is 1
  std::size_t column;  ///< in bytes; the first is 1
  std::string reason;  ///< "unexpected '}'", "unexpected byte 0xff" or "unexpected end"; ASCII
};

/// Describes the byte at which the parser has given up.
/// @param text what was parsed
/// @param byte `parse_error::byte`: the number of the last byte that was read, the first is 1;
///     beyond the last one: the end
[[nodiscard]] auto FindJsonFault(std::string_view text, std::size_t byte) -> JsonFault;

}  // namespace TURTLE_SERVER
