// The settings of `turtle serve`: one table, whose rows are keys and flags at once.
//
// Thread: pure, but for looking at the file system.
#pragma once

#include <string>

#include "app/serve_options.h"
#include "app/setting.h"

namespace TURTLE_SERVER {

/// Returns the settings of a server.
/// @param options what they store into, and their standards; outlives the list
[[nodiscard]] auto ServeSettings(ServeOptions& options) -> SettingList;

/// Returns the defaults of a server that is set up by a configuration.
[[nodiscard]] auto ConfigDefaults() -> ServeOptions;

/// Returns the end of the help: what a running server does at which signal.
[[nodiscard]] auto SignalsHelp() -> std::string;

}  // namespace TURTLE_SERVER
