// Finds where a text stops being valid JSON, and describes what is there in its own words.
//
// The parser's messages change from version to version, and quote the input, which may be a
// password or a stranger's bytes. Of its exceptions only the documented position is used.
// https://json.nlohmann.me/home/exceptions/#parse-errors
//
// Thread: pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// The place where a text stops being valid JSON.
struct JsonFault {
  std::size_t line;    ///< the first is 1
  std::size_t column;  ///< in bytes; the first is 1
  std::string reason;  ///< "unexpected '}'", "unexpected byte 0xff" or "unexpected end"; ASCII
};

/// Describes the byte at which the parser gave up.
/// @param text what was parsed
/// @param byte `parse_error::byte`: the number of the last byte read, counted from 1; beyond the
///     last byte: the end
[[nodiscard]] auto FindJsonFault(std::string_view text, std::size_t byte) -> JsonFault;

}  // namespace TURTLE_SERVER
