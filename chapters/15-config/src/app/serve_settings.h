// What `turtle serve` can be told: one table, whose rows are keys and flags at once.
//
// Thread: pure, but for looking at the file system.
#pragma once

#include "app/options.h"
#include "app/setting.h"

namespace TURTLE_SERVER {

/// The settings of a server.
/// @param options what they store into, and their standards; outlives the list
[[nodiscard]] auto ServeSettings(ServeOptions& options) -> SettingList;

/// What a server has that is set up by a configuration, where the configuration says nothing.
[[nodiscard]] auto ConfiguredStandards() -> ServeOptions;

}  // namespace TURTLE_SERVER
