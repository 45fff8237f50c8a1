// A set of IP addresses, given as networks.
//
// Interface:
//  * CidrSet({"192.0.2.7", "10.0.0.0/8", "2001:db8::/32"}) holds all of their addresses.
//  * IsNetwork() checks whether a text is an address or a network.
//  * Contains() checks whether an address belongs to one of them.
//
// Every address is a 128-bit number; an IPv4 address has that of its IPv4-mapped form
// (::ffff:10.0.0.0, RFC 4291, section 2.5.5.2). So both kinds share one list of ranges, which are
// sorted and don't touch. A look-up among a million takes twenty comparisons.
//
// Thread: a value.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/net_address.h"

namespace TURTLE_SERVER {

/// Addresses of both kinds, as ranges.
class CidrSet {
 public:
  /// Makes the empty set.
  CidrSet() = default;

  /// Holds all addresses of some networks.
  /// @param networks texts that pass IsNetwork(); throws std::invalid_argument, which names the
  ///     first one that does not
  explicit CidrSet(const std::vector<std::string>& networks);

  /// True for an address or a network in CIDR notation (RFC 4632, section 3.1, and RFC 4291,
  /// section 2.3): numbers only, no name and no scope. All bits after a network's prefix must be 0:
  /// in "10.0.0.1/8" one of the two numbers is a mistake.
  [[nodiscard]] static auto IsNetwork(const std::string& text) -> bool;

  /// True when `address` is in one of the networks. Always false for an address that is not an IP
  /// address.
  [[nodiscard]] auto Contains(const NetAddress& address) const noexcept -> bool;

  /// True when there is no network.
  [[nodiscard]] auto Empty() const noexcept -> bool { return ranges_.empty(); }

  /// Returns the number of ranges; adjacent networks are merged into one.
  [[nodiscard]] auto Size() const noexcept -> std::size_t { return ranges_.size(); }

 private:
  // Highest byte first, so that comparing bytes compares numbers.
  using Bits = std::array<std::uint8_t, 16>;

  struct Range {
    Bits first;
    Bits last;
  };

  static auto Parse(const std::string& text) -> std::optional<Range>;

  std::vector<Range> ranges_;  // sorted; between any two there is a free address
};

}  // namespace TURTLE_SERVER
