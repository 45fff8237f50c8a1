// How slow a peer may be.
//
// A deadline that every byte moves is none: one byte in time keeps a connection for ever. One that
// nothing moves cuts off the honest and slow. So a byte moves it by what a byte is worth:
//
//  * The first deadline is one grace away.
//  * When it passes, the bytes that have moved since it was set buy the next one. Each buys as much
//    time as it would take at the least rate, and all of them no more than one grace.
//  * Where nothing has moved, the peer is given up.
//
// So who keeps the rate stays as long as it takes, who stops is given up after two graces at most,
// and nobody can save up time by sending much at once. Looking only when a deadline passes costs
// nothing while bytes move.
//
// Thread: a value.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/clock.h"

namespace TURTLE_SERVER {

/// Bytes in a second that a peer is asked for unless somebody says otherwise.
constexpr std::uint64_t kMinRate = 500;

/// A rate, and how long it may fail to be met.
struct MinRate {
  std::uint64_t bytes_per_second;  ///< 0: one byte is as good as many
  Clock::duration grace;           ///< until the first look, and between two at most

  /// How much time a peer gets for having moved `bytes` since its deadline was set; zero: none, it
  /// is given up.
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
