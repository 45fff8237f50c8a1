// The settings of a server.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "core/address_limit.h"
#include "core/channel.h"
#include "core/engine.h"
#include "core/listen_options.h"

namespace TURTLE_SERVER {

class Connection;

/// Which loop accepts the clients of an address.
enum class Accepting : std::uint8_t {
  kShared,   ///< The first loop does, and hands each client to the loop with the fewest.
  kPerLoop,  ///< Each loop does, from its own listener; the kernel distributes them.
  /// As kPerLoop, but each loop keeps to its own CPU, and the kernel prefers the loop on the CPU at
  /// which the client's packets arrive.
  kPerCpu
};

/// Settings of a TurtleServer.
struct ServerOptions {
  std::size_t threads = 0;  ///< loops, each on its own thread; 0: one for every core
  /// How long Stop() waits for the connections to finish, and Drain() once it has closed the
  /// listeners.
  std::chrono::milliseconds stop_timeout{5000};
  /// How long Drain() keeps letting clients in, so that a load balancer learns in time to send no
  /// more.
  std::chrono::milliseconds drain_time{0};
  /// How long a silent connection may still begin a request after Drain() has closed the listeners.
  /// A part of the stop timeout.
  std::chrono::milliseconds last_chance{1000};
  ListenOptions listen{};                 ///< the listening sockets
  Accepting accept = Accepting::kShared;  ///< which loops accept
  /// The limit of each loop; 0: none. A client above it is refused, TurtleServer::OnFull(), and
  /// counted in the log.
  std::size_t max_connections = 0;
  /// The limit of each address, for all loops together. A client above it is refused likewise.
  AddressLimit address_limit{};
  PollerKind poller = PollerKind::kAuto;  ///< the poller of the loops
  bool cpu_affinity = false;              ///< each loop keeps to its own CPU (core/cpu_affinity.h)
  /// Makes the channel of each client, on its loop's thread: Connection::SetChannel(). If it is
  /// empty or returns nullptr: the plain socket. If it throws, the client is closed.
  std::function<std::unique_ptr<Channel>(Connection&)> channel{};
};

}  // namespace TURTLE_SERVER
