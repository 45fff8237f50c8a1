// How a listener behaves.
#pragma once

#include <sys/socket.h>

#include <chrono>
#include <cstddef>

namespace TURTLE_SERVER {

/// Settings of an Acceptor and its listening socket.
struct ListenOptions {
  int backlog = SOMAXCONN;  ///< clients that wait in the kernel to be accepted, listen(2)
  std::size_t batch = 64;   ///< clients accepted in one go, before the loop serves the others
  /// How long accepting rests when the process or the machine is out of descriptors or memory.
  std::chrono::milliseconds retry{100};
};

}  // namespace TURTLE_SERVER
