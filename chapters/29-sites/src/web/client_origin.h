// The client of a request that has come through proxies.
//
// A proxy that forwards requests hides the client: the connection has the proxy's address. So the
// proxy names the client in a field of each request (http/forwarded.h). Anybody can write such a
// field, so only those of trusted proxies count.
//
// Interface:
//  * OriginOf() returns what trusted proxies say about a request.
//
// Thread: a pure function.
#pragma once

#include <optional>

#include "core/cidr_set.h"
#include "core/net_address.h"
#include "http/headers.h"

namespace TURTLE_SERVER {

/// The statements of trusted proxies about a request.
struct ClientOrigin {
  std::optional<NetAddress> address{};  ///< the client's address; nullopt: they don't name it
  std::optional<bool> is_secure{};      ///< whether its scheme was https; nullopt: they don't say
};

/// Returns the origin of a request whose connection is one of a trusted proxy.
///
/// The client is the last address of the list (Forwarded or, without it, X-Forwarded-For) that is
/// not a trusted proxy's, since a client may have written all that precede it. If all are, it is
/// the first. If the list is missing, or malformed before the client is found, or if the client is
/// hidden, the origin has no address.
///
/// The scheme is that of the client's element of Forwarded or, if that has none, the last one of
/// X-Forwarded-Proto. Schemes other than http and https are ignored.
/// @param fields of the request
/// @param trusted the proxies
[[nodiscard]] auto OriginOf(const Headers& fields, const CidrSet& trusted) noexcept -> ClientOrigin;

}  // namespace TURTLE_SERVER
