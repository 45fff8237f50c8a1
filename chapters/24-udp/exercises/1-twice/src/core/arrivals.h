// Records which of a sender's datagrams have come, where each has a number.
//
// The sender counts from 0. A datagram that comes twice is taken once. A late one is taken as long
// as it is known whether it has come before: that is so for the newest number and the 63 before it.
//
// Thread: one at a time for each object.
#pragma once

#include <cstdint>

namespace TURTLE_SERVER {

/// The numbers of one sender.
class Arrivals {
 public:
  static constexpr int kWindow = 64;  ///< so many numbers are remembered

  /// A datagram has come. @param number at most 2^63
  /// @return false: it is to be ignored, for it has come before, or is so old that nobody knows
  [[nodiscard]] auto Accept(std::uint64_t number) noexcept -> bool;

  /// How many numbers have never come, of those that are too old by now.
  [[nodiscard]] auto Lost() const noexcept -> std::uint64_t;
};

}  // namespace TURTLE_SERVER
