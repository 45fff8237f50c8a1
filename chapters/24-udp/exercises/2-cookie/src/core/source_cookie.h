// Proof that a client gets what is sent to the address that it claims: a cookie.
//
// A client that asks without one is sent a cookie, which is shorter than the question, and nothing
// else. A client that comes back with it has read it, so the address is its own. The server
// remembers nobody.
//
// Thread: one at a time for each object.
// Sources: RFC 7873 and RFC 9018, where the DNS does so.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <string_view>

#include "base/keyed_hash.h"
#include "core/net_address.h"

namespace TURTLE_SERVER {

/// Makes cookies and knows them again.
class SourceCookie {
 public:
  using TimePoint = std::chrono::system_clock::time_point;  ///< The same on all hosts.
  static constexpr std::size_t kSize = 12;                  ///< Bytes of a cookie.
  using Bytes = std::array<char, kSize>;                    ///< A cookie.

  /// @param key the secret; servers that share it take each other's cookies
  /// @param life how long a cookie is good, at least 1 s
  SourceCookie(const HashKey& key, std::chrono::seconds life);

  /// Takes a new key. Cookies made with the one before stay good, those with older ones don't.
  void Renew(const HashKey& key);

  /// The cookie for `peer`, an IPv4 or IPv6 address with a port. Allocates nothing.
  [[nodiscard]] auto Make(const NetAddress& peer, TimePoint now) const noexcept -> Bytes;

  /// Was it made for `peer`, not longer ago than its life, and not in the future? Allocates
  /// nothing.
  /// @param cookie anything: it is a stranger's word
  [[nodiscard]] auto IsGood(std::string_view cookie, const NetAddress& peer,
                            TimePoint now) const noexcept -> bool;
};

}  // namespace TURTLE_SERVER
