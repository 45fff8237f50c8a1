// Finds what would keep a server from starting, without starting one: `turtle -t`.
//
// A server may be running with this configuration and must not be disturbed. So the check listens
// at none of its ports, writes to no file, and connects to nothing.
//
// Thread: pure, but for looking at the file system and at the addresses of this machine; a name may
// cost a question to a DNS server.
#pragma once

#include <string>
#include <vector>

#include "app/serve_options.h"

namespace TURTLE_SERVER {

/// Returns what would keep a server from starting, as far as that can be seen from outside: places
/// that are none or collide, files that could not be made, directories that can't be entered.
/// @param options each value by itself has been checked
/// @return a line for each, without a newline: the key, the value, the reason
[[nodiscard]] auto ServeFaults(const ServeOptions& options) -> std::vector<std::string>;

/// Returns what would keep a server from starting, unless a service manager helps: ports that this
/// user may not bind.
/// @return as ServeFaults()
[[nodiscard]] auto StartWarnings(const ServeOptions& options) -> std::vector<std::string>;

/// Returns warnings about settings that are valid but unlikely, such as sizes under 1 KiB.
/// @return as ServeFaults()
[[nodiscard]] auto ServeWarnings(ServeOptions options) -> std::vector<std::string>;

/// Logs ServeWarnings().
void LogWarnings(const ServeOptions& options);

}  // namespace TURTLE_SERVER
