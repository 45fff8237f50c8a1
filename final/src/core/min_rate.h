// Limits how slow a peer may be.
//
// If every byte moved the deadline, one byte in time would keep a connection forever. If none did,
// the honest but slow would be cut off. So a byte moves it by what a byte is worth:
//
//  * The first deadline is one grace period away.
//  * When it passes, the bytes moved since it was set buy the next deadline. Each byte buys the
//    time that it would take at the minimum rate; together they buy one grace period at most.
//  * If nothing has moved, the peer is dropped.
//
// So a peer that keeps the rate may take all the time it needs, and one that stops is dropped
// within two grace periods. No peer can save up time by sending much at once. Checking only when a
// deadline passes costs nothing while bytes move.
//
// Thread: a value.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/clock.h"

namespace TURTLE_SERVER {

/// The default minimum rate, in bytes per second.
constexpr std::uint64_t kMinRate = 500;

/// A minimum rate, and how long a peer may fall below it.
struct MinRate {
  std::uint64_t bytes_per_second;  ///< 0: a single byte counts as much as many
  Clock::duration grace;           ///< until the first check, and the longest time between two

  /// Returns how much time a peer gets for having moved `bytes` since its deadline was set; zero:
  /// drop the peer.
  [[nodiscard]] auto TimeFor(std::uint64_t bytes) const noexcept -> Clock::duration {
    if (bytes == 0 || bytes_per_second == 0) {
      return bytes == 0 ? Clock::duration::zero() : grace;
    }
    const std::chrono::duration<double> worth(static_cast<double>(bytes) /
                                              static_cast<double>(bytes_per_second));
    return worth < grace ? std::chrono::duration_cast<Clock::duration>(worth) : grace;
  }
};

}  // namespace TURTLE_SERVER
