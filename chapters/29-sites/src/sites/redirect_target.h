// Where a redirect leads: a text with variables.
//
//   RedirectTarget("https://$host/blog$rest$query", 0)
//
// Variables:
//  * $host: the request's host as sent, without its port.
//  * $path: the requested path.
//  * $rest: the part after the prefix of the rule, "" or "/a/b"; "" for a pattern.
//  * $query: the query with its question mark; "" without one.
//  * $1 to $9: the groups of the rule's pattern.
//  * $$: a dollar sign.
//
// A path is decoded once (http/uri.h), so its parts are encoded again: no byte of a request can end
// the field, and "%2F" does not become a slash. They are encoded for a path: in a query, '&', '='
// and '+' stay as they are.
//
// No path leads to another host. Of several slashes at the beginning of a Location one is kept:
// "/$rest" would otherwise be "//example.org" for some paths. Only $host may be a part of a
// target's host: "https://example.org$1" could lead to example.org.example.com.
//
// Thread: constant; any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "http/request.h"
#include "sites/path_pattern.h"

namespace TURTLE_SERVER {

/// The target of a redirect.
class RedirectTarget {
 public:
  /// @param text begins with '/', but not with "//"; or with http:// or https:// and a host that
  ///     passes IsValidHost(). $host may be a part of that.
  /// @param groups the number of groups of the rule's pattern
  /// @throws std::invalid_argument, which quotes the text, for any other, for an unknown variable,
  ///     such as "$hostname", for a group that the pattern does not have, and for a character that
  ///     a URI can't have
  RedirectTarget(std::string_view text, std::size_t groups);

  /// Returns true if $host is in it: a request without a host can't be redirected then.
  [[nodiscard]] auto NeedsHost() const noexcept -> bool;

  /// Returns the value of Location.
  /// @param request the client's
  /// @param parts of its path, PathPattern::Matches()
  [[nodiscard]] auto Expand(const Request& request, const PathParts& parts) const -> std::string;

 private:
  // The meaning of a piece of the text.
  enum class Kind : std::uint8_t { kText, kHost, kPath, kRest, kQuery, kGroup };

  struct Piece {
    Kind kind = Kind::kText;
    std::size_t group = 0;  // of kGroup: 0 for $1
    std::string text{};     // of kText
  };

  auto TakeVariable(std::string_view& text, std::size_t groups) -> bool;
  [[nodiscard]] auto HasHost(std::string_view scheme) const -> bool;

  std::vector<Piece> pieces_;
};

}  // namespace TURTLE_SERVER
