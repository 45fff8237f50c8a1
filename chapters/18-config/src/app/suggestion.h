// Guesses which name was meant by an unknown one: "did you mean port?"
//
// Thread: pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Returns how many letters have to be changed, removed, added or swapped with their neighbour to
/// turn one word into the other.
[[nodiscard]] auto EditDistance(std::string_view one, std::string_view other) -> std::size_t;

/// Returns the name that was probably meant. A wrong suggestion is worse than none, so one letter
/// in four may be wrong, and only one in a short word.
/// @param word as written
/// @param names the known names. The group of "http.root_path" is "http", the part before the last
///     dot. It may be missing in `word`, or differ. A name that differs in nothing else comes
///     first. Of several such names, the best is one of the same group, or of no group.
/// @return one of `names`; nullopt if none is near
[[nodiscard]] auto NearestName(std::string_view word, const std::vector<std::string>& names)
    -> std::optional<std::string>;

}  // namespace TURTLE_SERVER
