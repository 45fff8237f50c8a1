// How often a client may come: a bucket for each, in a table that does not grow.
//
// A client has a bucket of `burst` coins, full at first. Each admission takes one; they come back
// one by one, at `per_second`.
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
  /// @param per_second coins that come back, from 1 to 1,000,000,000: one each second / per_second,
  ///     in whole nanoseconds, rounded down
  /// @param burst coins in a full bucket, from 1 to 1,000,000
  /// @param max_clients so many clients are remembered, at least 1
  /// @throws std::invalid_argument "0 per second: not in 1..1000000000", "burst 0: not in
  ///     1..1000000", "0 clients: at least 1"
  ClientRate(std::uint32_t per_second, std::uint32_t burst, std::size_t max_clients);

  ClientRate(const ClientRate&) = delete;
  auto operator=(const ClientRate&) -> ClientRate& = delete;
  ~ClientRate() = default;

  /// Lets a client in, or not: a client is an IPv4 address, which is the same in its IPv4-mapped
  /// form, or the first 64 bits of another IPv6 address; the port does not count. A client without
  /// an Internet address is let in, and not remembered.
  ///
  /// To remember a new client when there is no place, the one is forgotten whose bucket would have
  /// been full again first, or is.
  ///
  /// @param now of several threads, one may be a little late
  /// @return 0: it is in, and a coin is taken; else how long until there will be one
  auto Admit(const NetAddress& client, TimePoint now) -> std::chrono::nanoseconds;

  /// How many clients are remembered.
  [[nodiscard]] auto Size() const -> std::size_t;
};

}  // namespace TURTLE_SERVER
