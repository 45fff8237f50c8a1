// Finds the site of a host name.
//
// Interface:
//  * Add() takes a name, such as "example.org", or a pattern, such as "*.example.org".
//  * Find() returns the site of the host that a request names.
//
// A name wins over a pattern, and of two patterns the longer one wins. "*.example.org" has all
// names that end in ".example.org", whatever the number of their labels, but not "example.org".
// Addresses are compared as text: "[::1]" is not found as "[0:0:0:0:0:0:0:1]".
//
// Thread: filled by its owner, constant afterwards. Find() allocates nothing.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Maps host names to the numbers of sites.
class HostTable {
 public:
  /// True for a host in lower case, without a port and without a dot at its end. It is a name, an
  /// IPv4 address, or "*." and a name; or, in brackets, an IPv6 address or one of a later kind. It
  /// has at most 253 bytes. Each label of a name has 1 to 63 letters, digits, hyphens and
  /// underscores, but no hyphen at either end (RFC 1123, section 2.1).
  [[nodiscard]] static auto IsName(std::string_view text) -> bool;

  /// Adds a name or a pattern.
  /// @param name passes IsName()
  /// @param site its number
  /// @throws std::invalid_argument, which names it, if it does not, or if it is there already
  void Add(const std::string& name, std::size_t site);

  /// Returns the site of a host.
  /// @param host as a request has it: in any case, with or without a port and a dot at its end
  /// @return nullopt if no site has it, or if it has an empty label, as ".example.org" has
  [[nodiscard]] auto Find(std::string_view host) const noexcept -> std::optional<std::size_t>;

 private:
  std::map<std::string, std::size_t, std::less<>> names_;  // a pattern is kept as ".example.org"
};

}  // namespace TURTLE_SERVER
