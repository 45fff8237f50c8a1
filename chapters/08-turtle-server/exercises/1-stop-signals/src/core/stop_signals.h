// SIGINT and SIGTERM for a server: the first asks it to end, the second does not ask.
//
// Interface: make one before Begin(), and keep it until Begin() has returned.
//
// Thread: the owner's. The signals may meet any thread.
#pragma once

#include <signal.h>

#include <array>

namespace TURTLE_SERVER {

class TurtleServer;

/// Handles SIGINT and SIGTERM while it lives. One at a time in a process.
class StopSignals {
 public:
  /// The first of the two signals is TurtleServer::Stop(), every later one does what it does by
  /// default. A signal that is ignored stays ignored.
  /// @param server outlives this object
  explicit StopSignals(TurtleServer& server);

  /// The signals do again what they did before.
  ~StopSignals();

  StopSignals(const StopSignals&) = delete;
  auto operator=(const StopSignals&) -> StopSignals& = delete;

 private:
  std::array<struct sigaction, 2> before_{};
};

}  // namespace TURTLE_SERVER
