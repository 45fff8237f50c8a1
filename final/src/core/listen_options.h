// The settings of a listener.
#pragma once

#include <sys/socket.h>

#include <chrono>
#include <cstddef>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Settings of an Acceptor and its listening socket.
struct ListenOptions {
  int backlog = SOMAXCONN;  ///< clients that wait in the kernel to be accepted, listen(2)
  std::size_t batch = 64;   ///< clients accepted at a time, before the loop serves the others
  /// How long accepting rests after a lasting error: the process or the machine is out of
  /// descriptors or memory, or the listener was shut down.
  std::chrono::milliseconds retry{100};
  /// Not 0: a client is accepted with its first byte, or after about that long. For protocols in
  /// which the client speaks first; core/tcp.h tells the price. Where the system can't,
  /// clients are accepted at once, and a warning in the log names the seconds, as in `60 s`.
  std::chrono::seconds defer_accept{0};
};

}  // namespace TURTLE_SERVER
