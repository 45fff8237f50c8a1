// Proves that a client receives at the address that it claims: a cookie.
//
// A client without a cookie only gets one, which is shorter than its request. A client that sends
// the cookie back has read it, so the address is its own. The server stores nothing about
// clients.
//
// Thread: one at a time for each object.
// Sources: RFC 7873 and RFC 9018, for the DNS.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <string_view>

#include "base/keyed_hash.h"
#include "core/net_address.h"

namespace TURTLE_SERVER {

/// Makes and checks cookies.
class SourceCookie {
 public:
  using TimePoint = std::chrono::system_clock::time_point;  ///< The same on all hosts.
  static constexpr std::size_t kSize = 12;                  ///< Bytes of a cookie.
  using Bytes = std::array<char, kSize>;                    ///< A cookie.

  /// @param key the secret; servers that share it accept each other's cookies
  /// @param life how long a cookie is valid, at least 1 s
  SourceCookie(const HashKey& key, std::chrono::seconds life);

  /// Sets a new key. Cookies made with the previous one stay valid; those with older ones don't.
  void Renew(const HashKey& key);

  /// Returns the cookie for `peer`, an IPv4 or IPv6 address with a port. Allocates nothing.
  [[nodiscard]] auto Make(const NetAddress& peer, TimePoint now) const noexcept -> Bytes;

  /// Returns true if it was made for `peer`, not longer ago than its life, and not in the future.
  /// Allocates nothing.
  /// @param cookie any bytes: a stranger has sent them
  [[nodiscard]] auto IsGood(std::string_view cookie, const NetAddress& peer,
                            TimePoint now) const noexcept -> bool;
};

}  // namespace TURTLE_SERVER
