// Finds the client of a request that came through proxies.
//
// Thread: pure function.
#pragma once

#include "core/cidr_set.h"
#include "core/net_address.h"
#include "http/headers.h"

namespace TURTLE_SERVER {

/// Returns the client of a request that may have come through proxies.
///
/// Each proxy appends to X-Forwarded-For the address from which the request came to it. An entry
/// added by one of our proxies is true; the entries before it may be forged by the client, or by a
/// proxy that is not ours.
///
/// @param peer the other end of the connection. A peer with a path in the file system is one of our
///     proxies.
/// @param fields of the request. Several X-Forwarded-For count as if they were joined, and empty
///     elements don't count.
/// @param ours the addresses of our proxies
/// @return the last address on the way, seen from us, that is not one of our proxies; if all are,
///     or if the next entry is not an address, the last valid one. With its port, or 0 if
///     X-Forwarded-For has none.
[[nodiscard]] auto ClientBehind(const NetAddress& peer, const Headers& fields, const CidrSet& ours)
    -> NetAddress;

}  // namespace TURTLE_SERVER
