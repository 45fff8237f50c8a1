// Who is it, behind a proxy?
//
// Thread: pure function.
#pragma once

#include "core/cidr_set.h"
#include "core/net_address.h"
#include "http/headers.h"

namespace TURTLE_SERVER {

/// The client of a request that may have come through proxies.
///
/// Each proxy adds, at the end of X-Forwarded-For, the address from which the request has come to
/// it. An entry that one of our proxies has added is true; the entries before it may come from
/// anybody.
///
/// @param peer the other end of the connection. A peer with a path in the file system is one of our
///     proxies.
/// @param fields of the request. Several X-Forwarded-For count as if they were joined, and empty
///     elements don't count.
/// @param ours the addresses of our proxies
/// @return the last address on the way, seen from us, that is none of our proxies; if all are, or
///     if the next entry is no address, the last that was found to be one. With its port, or 0
///     where X-Forwarded-For has none.
[[nodiscard]] auto ClientBehind(const NetAddress& peer, const Headers& fields, const CidrSet& ours)
    -> NetAddress;

}  // namespace TURTLE_SERVER
