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
};

}  // namespace TURTLE_SERVER
