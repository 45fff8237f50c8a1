// Caches both addresses of each connection, so the kernel is asked only once.
//
// A copy of a request (web/owned_request.h) needs both addresses in advance, because its handler
// can't ask for them on another thread. That would be two system calls for each request, and their
// results don't change during a connection.
//
// Interface:
//  * SourceOf() returns the client's address, DestinationOf() the server's.
//
// The table is as long as the highest descriptor that was asked about, with 72 bytes for each. No
// call reports the end of a connection: the next one on the same descriptor has another
// ConnectionId.
//
// Thread: the thread of the connections' loop.
#pragma once

#include <cstdint>
#include <vector>

#include "core/connection.h"
#include "core/net_address.h"

namespace TURTLE_SERVER {

/// The two addresses of a connection.
struct ConnectionEnds {
  NetAddress source;       ///< the client's address
  NetAddress destination;  ///< the server's address that it connected to
};

/// Keeps the addresses of one loop's connections that were asked for.
class ConnectionEndsTable {
 public:
  /// Returns the client's address, getpeername(2). It is empty if the kernel doesn't know it, for
  /// example after the client has closed; the next call then asks again.
  /// @throws std::bad_alloc
  [[nodiscard]] auto SourceOf(const Connection& connection) -> const NetAddress&;

  /// Returns the server's address of the connection, getsockname(2). Otherwise as above.
  [[nodiscard]] auto DestinationOf(const Connection& connection) -> const NetAddress&;

 private:
  struct Known {
    ConnectionId id{-1, 0};  // no connection has this one
    ConnectionEnds ends;     // empty: not known
  };

  auto EndsOf(const Connection& connection) -> ConnectionEnds&;

  std::vector<Known> known_;  // by descriptor
};

}  // namespace TURTLE_SERVER
