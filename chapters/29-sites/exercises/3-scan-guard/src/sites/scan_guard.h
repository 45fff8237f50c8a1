// Bans clients that look for holes.
//
// A scanner requests "/.env", "/wp-login.php" and a hundred other paths that no page of this server
// links to. Such paths are the traps of a guard. A client that requests too many of them is banned:
//
//   guard.Note(client, request.uri.Path(), looper.Now());
//   if (guard.IsBanned(client, looper.Now())) {
//     exchange.Reply(ErrorResponse(403));
//     return;
//   }
//
// No honest client requests a trap, so choose traps with care. For example, "/.well-known/" begins
// with a dot, and honest clients need it (RFC 8615).
//
// Interface:
//  * Note() counts a request.
//  * IsBanned() returns whether a client is banned.
//  * Clients() returns how many clients are remembered.
//
// An IPv4 address is a client, in either form (::ffff:192.0.2.7). So is each /64 of IPv6, since a
// customer gets at least that many addresses. A client without an IP address, such as one of a Unix
// socket, is never banned: many clients may share it.
//
// Thread: one, such as a loop's. Each loop has its own guard, so a client with a connection to each
// loop can request a trap `hits` times on each.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "core/net_address.h"
#include "sites/path_pattern.h"

namespace TURTLE_SERVER {

/// The limits of a ScanGuard, and the size of its memory.
struct ScanLimits {
  std::uint32_t hits = 5;           ///< requests for traps that ban a client; 1 to 100
  std::chrono::seconds window{60};  ///< in which they are sent; 1 s to a day
  std::chrono::seconds ban{600};    ///< how long a ban lasts; 1 s to 365 days
  std::size_t clients = 10'000;     ///< suspects to remember, and banned clients; 1 to a million
};

/// The scanners of a server.
class ScanGuard {
 public:
  /// @param traps the paths that no honest client requests
  /// @param limits see above
  /// @throws std::invalid_argument, which names the first value that is out of its range. The texts
  ///     are "scan: 0 hits: not 1 to 100" and "scan: window of 0 s: not 1 to 86400". The others are
  ///     "scan: ban of 0 s: not 1 to 31536000" and "scan: 0 clients: not 1 to 1000000".
  explicit ScanGuard(std::vector<PathPattern> traps, const ScanLimits& limits = {});

  /// Counts a request. One that is for no trap changes nothing.
  ///
  /// A request for a trap bans the client if it is the last of `hits` such requests, and the first
  /// of them is less than `window` old. The ban ends `ban` after the client's last request for a
  /// trap, so each further one prolongs it. After its end the client has no hits.
  ///
  /// A client that has hits, and no ban, is a suspect. Suspects and banned clients are remembered
  /// separately, at most ScanLimits::clients of each. One more replaces the one of its kind whose
  /// last request for a trap is the oldest, so no number of suspects ends a ban.
  ///
  /// @param client the client's address
  /// @param path decoded, as Uri::Path()
  /// @param now the loop's time; it never goes back
  /// @throws std::bad_alloc
  void Note(const NetAddress& client, std::string_view path, TimePoint now);

  /// Returns true from the request that bans a client to the end of the ban, and not at its end.
  /// Allocates nothing, and changes nothing that Note() would notice.
  /// @param client the client's address
  /// @param now the loop's time; it never goes back
  [[nodiscard]] auto IsBanned(const NetAddress& client, TimePoint now) const -> bool;

  /// Returns how many clients are remembered now, suspects and banned ones.
  [[nodiscard]] auto Clients() const noexcept -> std::size_t;

 private:
  // TODO: its data
};

}  // namespace TURTLE_SERVER
