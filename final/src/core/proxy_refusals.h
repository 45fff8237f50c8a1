// Logs PROXY headers that are refused: at most one line per second and loop, however many there
// are.
//
// The first line names the proxy and the reason. Those that follow within a second are counted, and
// a timer reports the count.
//
// Thread: any; each loop has its own count.
#pragma once

#include <cstddef>
#include <map>

#include "base/mutex.h"
#include "core/connection.h"
#include "core/looper.h"

namespace TURTLE_SERVER {

/// The refused headers of all loops of one server.
class ProxyRefusals {
 public:
  /// Logs or counts a refused header. Loop thread of `connection` only. Without memory for a line,
  /// nothing is logged.
  /// @param connection of the proxy; its loop must not outlive this object
  /// @param reason as ProxyHeader::reason
  void Report(const Connection& connection, const char* reason) noexcept;

 private:
  // The state of one loop, which only its thread uses.
  struct OfLoop {
    std::size_t untold = 0;
    bool awaits_timer = false;
  };

  auto Of(const Looper& looper) -> OfLoop&;
  static void Await(Looper& looper, OfLoop& mine);
  static void Tell(Looper& looper, OfLoop& mine);

  Mutex mutex_;
  std::map<const Looper*, OfLoop> loops_ TURTLE_GUARDED_BY(mutex_);
};

}  // namespace TURTLE_SERVER
