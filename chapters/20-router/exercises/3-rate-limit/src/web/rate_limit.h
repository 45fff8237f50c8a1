// Limits how often each client may send a request (429: RFC 6585, section 4).
//
// Interface:
//  * RateLimit::Take() counts a request, and returns how long its client has to wait.
//  * LimitRate() makes middleware from it.
//
// Thread: any, several at once.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "core/net_address.h"
#include "web/routes.h"

namespace TURTLE_SERVER {

/// The limits of a RateLimit.
struct RateLimitOptions {
  std::size_t burst = 20;                   ///< requests that a client may make at once
  std::chrono::milliseconds interval{100};  ///< after it one more is allowed, up to `burst`
  std::size_t max_clients = 10000;          ///< how many are remembered
};

/// Counts the requests of each client.
class RateLimit {
 public:
  /// @param options each at least 1
  /// @throws std::invalid_argument, with the name of the option that is less than 1
  explicit RateLimit(RateLimitOptions options);

  RateLimit(const RateLimit&) = delete;
  auto operator=(const RateLimit&) -> RateLimit& = delete;
  ~RateLimit();

  /// Counts a request, unless its client has to wait. A client without a request so far, or in the
  /// last `burst` intervals, may make `burst` requests. If there would be more than `max_clients`,
  /// the one with the oldest Take() is forgotten.
  /// @param client any text that identifies it
  /// @param now never before that of an earlier call
  /// @return 0 if the request was counted; else the time until the client may make the next one
  auto Take(std::string_view client, TimePoint now) -> Clock::duration;

  /// Returns how many clients are remembered.
  [[nodiscard]] auto Clients() const -> std::size_t;

 private:
  class Table;

  const std::unique_ptr<Table> table_;  // yours
};

/// Returns a text that identifies a client: its address without the port. For IPv6 only the first
/// 64 bits count, since a client has all addresses that begin with these.
[[nodiscard]] auto ClientKey(const NetAddress& address) -> std::string;

/// Makes middleware that sends a 429 for a request that comes too early, with Retry-After: the time
/// to wait, in whole seconds, rounded up. Clients are identified by ClientKey().
/// @param limit shared by all places that count together
/// @param clock the time
[[nodiscard]] auto LimitRate(std::shared_ptr<RateLimit> limit, ClockSource clock = Clock::now)
    -> Middleware;

}  // namespace TURTLE_SERVER
