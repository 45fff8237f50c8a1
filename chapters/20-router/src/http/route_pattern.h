// The path patterns of routes: "/users/{id:int}/files/{path...}".
//
// Every segment is one of these:
//
//   users        itself
//   {id:int}     a whole number that fits into 64 bits
//   {id:uuid}    xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx, hexadecimal
//   {name}       any segment that is not empty
//   {path...}    all that is left, perhaps nothing, slashes and all; the last segment only
//
// "/users" and "/users/" are two paths: a link relative to one leads elsewhere from the
// other.
//
// Interface:
//  * ParseRoutePattern() parses such a text, or says what is wrong with it.
//  * FitsSegment() checks whether a segment of a path is of a given kind.
//
// Thread: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// The kind of a segment; earlier kinds take precedence.
enum class SegmentKind : std::uint8_t {
  kLiteral,  ///< itself
  kInteger,  ///< {id:int}
  kUuid,     ///< {id:uuid}
  kPlain,    ///< {name}
  kRest,     ///< {path...}
};

/// The most parameters that a route has.
inline constexpr std::size_t kMaxParameters = 8;

/// One segment of a pattern.
struct PatternSegment {
  SegmentKind kind = SegmentKind::kLiteral;  ///< what it matches
  std::string text;                          ///< the literal, or the parameter's name
};

/// Parses a pattern.
/// @return its segments; "/" has one, an empty kLiteral
/// @throws std::invalid_argument if it is not valid; the text says why, but not in which pattern
[[nodiscard]] auto ParseRoutePattern(std::string_view pattern) -> std::vector<PatternSegment>;

/// True if `segment`, of a decoded path, fits `kind`, which is neither kLiteral nor kRest.
[[nodiscard]] auto FitsSegment(SegmentKind kind, std::string_view segment) noexcept -> bool;

}  // namespace TURTLE_SERVER
