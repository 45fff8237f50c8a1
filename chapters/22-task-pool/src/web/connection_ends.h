// The two ends of connections, each asked of the kernel once.
//
// A copy of a request (web/owned_request.h) has to know both addresses in advance, because its
// handler can't ask for them on another thread. That would be two system calls for each request,
// and what they return doesn't change as long as the connection lives.
//
// Interface:
//  * SourceOf() is the client's end, DestinationOf() the server's.
//
// The table is as long as the highest descriptor that was asked about, with 72 bytes for each.
// Nobody tells it of a connection's end: the next one on the same descriptor has another
// ConnectionId.
//
// Thread: that of the loop whose connections they are.
#pragma once

#include <cstdint>
#include <vector>

#include "core/connection.h"
#include "core/net_address.h"

namespace TURTLE_SERVER {

/// The two ends of a connection.
struct ConnectionEnds {
  NetAddress source;       ///< the client's address
  NetAddress destination;  ///< the one that it has reached
};

/// The ends of one loop's connections, as far as they were asked for.
class ConnectionEndsTable {
 public:
  /// Returns the client's address, getpeername(2). It is empty if the kernel doesn't tell, as of a
  /// client that has gone; then the next call asks again.
  /// @throws std::bad_alloc
  [[nodiscard]] auto SourceOf(const Connection& connection) -> const NetAddress&;

  /// Returns the address that the client has reached, getsockname(2). As above.
  [[nodiscard]] auto DestinationOf(const Connection& connection) -> const NetAddress&;

 private:
  struct Known {
    ConnectionId id{-1, 0};  // no connection has this one
    ConnectionEnds ends;     // an empty one is not known
  };

  auto EndsOf(const Connection& connection) -> ConnectionEnds&;

  std::vector<Known> known_;  // by descriptor
};

}  // namespace TURTLE_SERVER
