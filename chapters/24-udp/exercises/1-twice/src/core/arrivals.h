// Detects duplicates among a sender's numbered datagrams.
//
// The sender counts from 0. A datagram that arrives twice is accepted once. A late one is accepted
// while it is known whether it has arrived before: for the newest number and the 63 before it.
//
// Thread: one at a time for each object.
#pragma once

#include <cstdint>

namespace TURTLE_SERVER {

/// The numbers of one sender.
class Arrivals {
 public:
  static constexpr int kWindow = 64;  ///< how many numbers are remembered

  /// Notes a datagram's arrival. @param number at most 2^63
  /// @return false if it must be ignored: it has arrived before, or is too old to be known
  [[nodiscard]] auto Accept(std::uint64_t number) noexcept -> bool;

  /// Returns how many numbers never arrived, of those that are too old by now.
  [[nodiscard]] auto Lost() const noexcept -> std::uint64_t;
};

}  // namespace TURTLE_SERVER
