// Two ends of a TCP connection over loopback, in one program.
//
// Interface:
//  * LoopbackPair connects them; Server() and Client() are their descriptors.
//  * Drain() reads the data that has arrived at the client.
//
// Thread: one thread uses a pair.
#pragma once

#include <cstddef>

#include "base/namespace.h"
#include "base/unique_fd.h"

namespace TURTLE_SERVER::bench {

/// A connection whose two ends don't block. Closing it leaves no state in the kernel.
class LoopbackPair {
 public:
  /// @throws std::system_error if the connection can't be made
  LoopbackPair();

  /// Returns the end that a server would have.
  [[nodiscard]] auto Server() const -> int { return server_.Get(); }

  /// Returns the end that a client would have.
  [[nodiscard]] auto Client() const -> int { return client_.Get(); }

  /// Returns the socket that accepted the server's end; no other client waits there.
  [[nodiscard]] auto Listener() const -> int { return listener_.Get(); }

  /// Reads at the client until it has this many bytes. On loopback they are there after send(2).
  void Drain(std::size_t bytes) const;

 private:
  UniqueFd listener_;
  UniqueFd client_;
  UniqueFd server_;
};

}  // namespace TURTLE_SERVER::bench
