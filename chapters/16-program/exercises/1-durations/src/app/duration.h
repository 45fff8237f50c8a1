// Durations as people write them: 90, 90s, 5m, 1h30m, 2d.
//
// Thread: pure functions.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Parses a duration: a single number, which means seconds, or several with a unit each (`d`, `h`,
/// `m`, `s`), from the largest unit to the smallest, none twice. No sign, no space, no fraction.
/// @param text as written.
/// @return seconds; nullopt: not a duration, or more seconds than 63 bits can hold.
[[nodiscard]] auto ParseDuration(std::string_view text) -> std::optional<std::chrono::seconds>;

}  // namespace TURTLE_SERVER
