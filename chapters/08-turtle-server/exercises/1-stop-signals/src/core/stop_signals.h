// Handles SIGINT and SIGTERM for a server: the first stops it, the second ends the process.
//
// Interface: make one before Begin(), and keep it until Begin() has returned.
//
// Thread: the owner's. The signals may arrive on any thread.
#pragma once

#include <signal.h>

#include <array>

namespace TURTLE_SERVER {

class TurtleServer;

/// Handles SIGINT and SIGTERM while it lives. One at a time in a process.
class StopSignals {
 public:
  /// The first of the two signals calls TurtleServer::Stop(); each later one has its default
  /// action. An ignored signal stays ignored.
  /// @param server outlives this object
  explicit StopSignals(TurtleServer& server);

  /// Restores the earlier actions of the signals.
  ~StopSignals();

  StopSignals(const StopSignals&) = delete;
  auto operator=(const StopSignals&) -> StopSignals& = delete;

 private:
  std::array<struct sigaction, 2> before_{};
};

}  // namespace TURTLE_SERVER
