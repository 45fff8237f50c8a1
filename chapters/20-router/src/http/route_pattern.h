// The paths of a route, as they are written: "/users/{id:int}/files/{path...}".
//
// Every segment is one of these:
//
//   users        itself
//   {id:int}     a whole number that fits into 64 bits
//   {id:uuid}    xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx, hexadecimal
//   {name}       any segment that is not empty
//   {path...}    all that is left, perhaps nothing, slashes and all; the last segment only
//
// "/users" and "/users/" are two paths: a link that is relative to one leads elsewhere from the
// other.
//
// Interface:
//  * ParseRoutePattern() understands such a text, or says what is wrong with it.
//  * FitsSegment() tells whether a segment of a path is of a kind.
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

/// The kind of a segment; the ones that come first count more.
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
  SegmentKind kind = SegmentKind::kLiteral;  ///< what it stands for
  std::string text;                          ///< the literal, or the parameter's name
};

/// Understands a pattern.
/// @return its segments; "/" is one, of kind kLiteral, that is empty
/// @throws std::invalid_argument when it is none; the text says what is wrong, not in which pattern
[[nodiscard]] auto ParseRoutePattern(std::string_view pattern) -> std::vector<PatternSegment>;

/// Is `segment`, of a path that is decoded, of a kind other than kLiteral and kRest?
[[nodiscard]] auto FitsSegment(SegmentKind kind, std::string_view segment) noexcept -> bool;

}  // namespace TURTLE_SERVER
