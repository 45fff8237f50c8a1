// The settings of a server.
#pragma once

#include <chrono>
#include <cstddef>

#include "core/listen_options.h"

namespace TURTLE_SERVER {

/// Settings of a TurtleServer.
struct ServerOptions {
  std::size_t threads = 0;  ///< loops, each on its own thread; 0: one for every core
  /// How long Stop() waits for the connections to finish.
  std::chrono::milliseconds stop_timeout{5000};
  ListenOptions listen{};  ///< the listening sockets
  /// The limit of each loop; 0: none. A client above it is refused, TurtleServer::OnFull(), and
  /// counted in the log.
  std::size_t max_connections = 0;
  bool cpu_affinity = false;  ///< each loop keeps to its own CPU (core/cpu_affinity.h)
};

}  // namespace TURTLE_SERVER
