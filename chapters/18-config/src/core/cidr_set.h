// A set of addresses, written as networks.
//
// Interface:
//  * CidrSet({"192.0.2.7", "10.0.0.0/8", "2001:db8::/32"}) has them all.
//  * IsNetwork() tells whether a text is one.
//  * Contains() tells whether an address belongs to one of them.
//
// Every address is a number of 128 bits, an IPv4 address that of its IPv4-mapped form
// (::ffff:10.0.0.0, RFC 4291, section 2.5.5.2). So both kinds share one list of ranges, which are
// sorted and don't touch. A million of them take twenty comparisons.
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

/// Addresses of both kinds, in ranges.
class CidrSet {
 public:
  /// The empty set.
  CidrSet() = default;

  /// All addresses of some networks.
  /// @param networks each as IsNetwork() wants it; throws std::invalid_argument, which names the
  ///     one that is not
  explicit CidrSet(const std::vector<std::string>& networks);

  /// True for an address or a network (CIDR notation, RFC 4632, section 3.1, and RFC 4291, section
  /// 2.3): numbers only, no name and no scope. The bits after a network's prefix are 0: in
  /// "10.0.0.1/8" one of the two numbers is a mistake.
  [[nodiscard]] static auto IsNetwork(const std::string& text) -> bool;

  /// True when `address` is in one of the networks. Never for an address that is not of the
  /// Internet.
  [[nodiscard]] auto Contains(const NetAddress& address) const noexcept -> bool;

  /// True when there is no network.
  [[nodiscard]] auto Empty() const noexcept -> bool { return ranges_.empty(); }

  /// Ranges that are left of the networks: neighbours have become one.
  [[nodiscard]] auto Size() const noexcept -> std::size_t { return ranges_.size(); }

 private:
  // Highest byte first, so that comparing bytes compares numbers.
  using Bits = std::array<std::uint8_t, 16>;

  struct Range {
    Bits first;
    Bits last;
  };

  static auto Parse(const std::string& text) -> std::optional<Range>;

  std::vector<Range> ranges_;  // sorted; a free address is between any two
};

}  // namespace TURTLE_SERVER
