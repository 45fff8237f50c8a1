// The paths that a rule of a site is for: those under a prefix, or those that match an expression.
//
// Interface:
//  * Prefix() and Regex() make one.
//  * Matches() tells whether it includes a path, and which parts of the path it leaves open.
//
// An expression is RE2's, so its time grows with the length of the path alone, whatever the
// expression (https://github.com/google/re2/wiki/Syntax). It is matched byte by byte: "." is any
// byte but a line feed, so "/private/.*" includes paths that are not UTF-8. A letter beyond ASCII
// is two to four bytes.
//
// Thread: constant; any.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/namespace.h"

namespace re2 {
class RE2;
}

namespace TURTLE_SERVER {

/// The parts of a path that a pattern leaves open. Views of the path.
struct PathParts {
  /// The most groups of an expression.
  static constexpr std::size_t kMaxGroups = 9;

  /// The part after a prefix, "" or "/a/b"; of an expression "". With the prefix "/" it is the
  /// whole path, and that of "OPTIONS *" is "*".
  std::string_view rest;
  /// $1 to $9 of an expression; "" for a group that took no part in the match.
  std::array<std::string_view, kMaxGroups> groups;
};

/// A set of paths.
class PathPattern {
 public:
  /// Makes the set of all paths under `path`, in whole segments: "/docs" includes "/docs" and
  /// "/docs/a", but not "/docsets".
  /// @param path "/", "" (the same), or a path such as "/docs", without a slash at its end and
  /// without
  ///     empty or dot segments, which no Uri::Path() has; throws std::invalid_argument for any
  ///     other
  [[nodiscard]] static auto Prefix(const std::string& path) -> PathPattern;

  /// Makes the set of all paths that `expression` matches as a whole.
  /// @param expression with at most kMaxGroups groups; throws std::invalid_argument, which quotes
  ///     it and gives the reason, if it is malformed, too large, or has more
  [[nodiscard]] static auto Regex(const std::string& expression) -> PathPattern;

  /// Returns the number of the expression's groups; 0 for a prefix.
  [[nodiscard]] auto Groups() const noexcept -> std::size_t { return groups_; }

  /// Returns true if the set includes `path`. It is cheaper than Matches(), since no group is
  /// found.
  [[nodiscard]] auto Includes(std::string_view path) const -> bool;

  /// Returns true if the set includes `path`.
  /// @param path decoded, as Uri::Path()
  /// @param parts gets the open parts, if it does; those of an earlier match are dropped
  [[nodiscard]] auto Matches(std::string_view path, PathParts& parts) const -> bool;

 private:
  PathPattern() = default;

  std::string prefix_;                          // "" for "/"
  std::shared_ptr<const re2::RE2> expression_;  // set for Regex(); shared by copies
  std::size_t groups_ = 0;
};

}  // namespace TURTLE_SERVER
