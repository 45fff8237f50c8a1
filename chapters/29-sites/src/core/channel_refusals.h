// Logs clients that a channel refuses, such as those without the PROXY header that must come first:
// at most one line per second and loop, however many there are.
//
// The first line names the client and the reason. Those that follow within a second are counted,
// and a timer reports the count.
//
// Thread: any; each loop has its own count.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "base/mutex.h"
#include "core/connection.h"
#include "core/looper.h"
#include "log/log_level.h"

namespace TURTLE_SERVER {

/// The refused clients of all loops of one server.
class ChannelRefusals {
 public:
  /// @param level of the lines
  /// @param what is refused, before "of ADDRESS refused": "PROXY header". Its plural has an s
  ChannelRefusals(LogLevel level, std::string what) : level_(level), what_(std::move(what)) {}

  /// Logs or counts a refused client. Loop thread of `connection` only. Without memory for a line,
  /// nothing is logged.
  /// @param connection of the client; its loop must not outlive this object
  /// @param reason the end of the line
  void Report(const Connection& connection, const char* reason) noexcept;

 private:
  // The state of one loop, which only its thread uses.
  struct OfLoop {
    std::size_t untold = 0;
    bool awaits_timer = false;
  };

  auto Of(const Looper& looper) -> OfLoop&;
  void Await(Looper& looper, OfLoop& mine);
  void Tell(Looper& looper, OfLoop& mine);

  const LogLevel level_;
  const std::string what_;
  Mutex mutex_;
  std::map<const Looper*, OfLoop> loops_ TURTLE_GUARDED_BY(mutex_);
};

}  // namespace TURTLE_SERVER
