// Reloads the settings of a running server.
//
// If there is any mistake, the new settings are dropped as a whole. Settings that can't change
// while the server runs, such as a port, are logged and wait for a restart.
//
// Thread: the first loop's.
#pragma once

#include <functional>

#include "app/options.h"
#include "log/logging.h"
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

  /// Reloads the settings, and logs the result. Throws the exceptions of `reread`.
  void Read();

 private:
  void Take(const CommandLine& line);

  const ServeOptions& running_;
  const Reread& reread_;
  HttpServer& server_;
  Logging& logging_;
};

}  // namespace TURTLE_SERVER
