// Reloads the settings of a running server.
//
// If there is any mistake, the new settings are dropped as a whole. Settings that can't change
// while the server runs, such as a port, are logged and wait for a restart.
//
// A directory may be on a remote disk, and a list of networks may be long. So a thread of the pool
// reads, if there is one; the result is applied on the first loop.
//
// Thread: the first loop's.
#pragma once

#include <cstdint>
#include <functional>

#include "app/options.h"
#include "log/logging.h"
#include "task/task_pool.h"
#include "web/http_server.h"

namespace TURTLE_SERVER {

/// Reloads the settings, as ReadAgain() does.
using Reread = std::function<CommandLine()>;

/// Reloads the settings of one server at each SIGHUP.
class SettingsReader {
 public:
  /// All arguments outlive this object.
  /// @param running the settings with which the server was started
  /// @param reread empty if there is nothing to reload
  /// @param server gets the new limits
  /// @param logging gets the new level
  SettingsReader(const ServeOptions& running, const Reread& reread, HttpServer& server,
                 Logging& logging)
      : running_(running), reread_(reread), server_(server), logging_(logging) {}

  /// Reloads the settings, and logs the result. Throws the exceptions of `reread` if this thread
  /// has to read.
  /// @param pool ends its threads before this object is destroyed
  void Read(TaskPool& pool);

 private:
  void Take(const CommandLine& line);

  const ServeOptions& running_;
  const Reread& reread_;
  HttpServer& server_;
  Logging& logging_;
  std::uint64_t asked_ = 0;
  std::uint64_t taken_ = 0;
};

}  // namespace TURTLE_SERVER
