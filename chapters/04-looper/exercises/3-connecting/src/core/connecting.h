// Connects to a server without blocking the loop.
//
// Interface: the constructor begins, and the callback gets the socket or the error. Destroying a
// Connecting cancels it.
//
// Thread: the loop's.
#pragma once

#include <functional>

#include "base/unique_fd.h"
#include "core/looper.h"
#include "core/net_address.h"
#include "core/socket.h"

namespace TURTLE_SERVER {

/// Called with a connected, non-blocking socket and 0, or with none and the error's number.
using ConnectedCallback = std::function<void(UniqueFd client, int error)>;

/// An attempt to connect to a server.
class Connecting {
 public:
  /// Begins to connect.
  /// @param looper waits for the connection; has to outlive this object
  /// @param server the address
  /// @param done called once, in a later round of the loop
  /// @throws std::system_error if the process is out of descriptors
  Connecting(Looper& looper, const NetAddress& server, ConnectedCallback done);

  /// Cancels: `done` will not be called any more, and the descriptor is closed.
  ~Connecting() = default;  // TODO

  Connecting(const Connecting&) = delete;
  auto operator=(const Connecting&) -> Connecting& = delete;
};

}  // namespace TURTLE_SERVER
