// The settings of `turtle serve`: one table, whose rows define both keys and flags.
//
// Thread: pure, except that it looks at the file system.
#pragma once

#include <string>

#include "app/serve_options.h"
#include "app/setting.h"

namespace TURTLE_SERVER {

/// Returns the settings of a server.
/// @param options its members store the values, and contain the defaults; outlives the list
[[nodiscard]] auto ServeSettings(ServeOptions& options) -> SettingList;

/// Returns the defaults of a server that has a configuration.
[[nodiscard]] auto ConfigDefaults() -> ServeOptions;

/// Returns the end of the help: how a running server reacts to signals.
[[nodiscard]] auto SignalsHelp() -> std::string;

}  // namespace TURTLE_SERVER
