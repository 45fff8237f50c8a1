// Limits how often a client may come: a bucket for each, in a table that does not grow.
//
// A client has a bucket of `burst` coins, initially full. Each admission takes one; they are
// refilled one by one, at `per_second`.
//
// Thread: any, any number at once.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/clock.h"
#include "core/net_address.h"

namespace TURTLE_SERVER {

/// The buckets of all clients.
class ClientRate {
 public:
  /// @param per_second refilled coins, from 1 to 1,000,000,000: one each second / per_second,
  ///     in whole nanoseconds, rounded down
  /// @param burst coins in a full bucket, from 1 to 1,000,000
  /// @param max_clients how many clients are remembered, at least 1
  /// @throws std::invalid_argument "0 per second: not in 1..1000000000", "burst 0: not in
  ///     1..1000000", "0 clients: at least 1"
  ClientRate(std::uint32_t per_second, std::uint32_t burst, std::size_t max_clients);

  ClientRate(const ClientRate&) = delete;
  auto operator=(const ClientRate&) -> ClientRate& = delete;
  ~ClientRate() = default;

  /// Admits a client, or not. A client is an IPv4 address, also in its IPv4-mapped form, or the
  /// first 64 bits of any other IPv6 address; the port does not count. A client without an Internet
  /// address is always admitted, and not remembered.
  ///
  /// If there is no room for a new client, the one is forgotten whose bucket is full first, or has
  /// been for the longest time.
  ///
  /// @param now may differ slightly between threads
  /// @return 0 if it is admitted, and a coin was taken; else the time until there will be one
  auto Admit(const NetAddress& client, TimePoint now) -> std::chrono::nanoseconds;

  /// Returns how many clients are remembered.
  [[nodiscard]] auto Size() const -> std::size_t;
};

}  // namespace TURTLE_SERVER
