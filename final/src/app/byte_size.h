// Sizes as people write them: 512, 64K, 16M, 1G.
//
// Thread: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Parses a number of bytes: digits, optionally followed by one of the letters K, M, G, T (either
/// case) for powers of 1024. No sign, no space, no fraction.
/// @param text as written.
/// @return bytes; nullopt: not a size, or more than 64 bits can hold.
[[nodiscard]] auto ParseByteSize(std::string_view text) -> std::optional<std::uint64_t>;

/// Formats a number of bytes as short as possible, so that ParseByteSize() reads it again: 67108864
/// becomes 64M, and 1000 stays 1000.
[[nodiscard]] auto FormatByteSize(std::uint64_t bytes) -> std::string;

}  // namespace TURTLE_SERVER
