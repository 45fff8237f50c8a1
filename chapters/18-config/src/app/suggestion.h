// Which name was meant by one that does not exist: "did you mean port?"
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

/// Returns how many letters have to be changed, left out, put in or swapped with their neighbour to
/// make one word of another.
[[nodiscard]] auto EditDistance(std::string_view one, std::string_view other) -> std::size_t;

/// Returns the name that was probably meant. A wrong suggestion is worse than none, so one letter
/// in four may be wrong, and of a short word only one.
/// @param word what was written
/// @param names what could be meant. In "http.root_path" the part up to the last dot may be missing
///     from `word`, or be another one there; a name that differs in nothing else comes first.
/// @return one of `names`; nullopt: none is near
[[nodiscard]] auto NearestName(std::string_view word, const std::vector<std::string>& names)
    -> std::optional<std::string>;

}  // namespace TURTLE_SERVER
