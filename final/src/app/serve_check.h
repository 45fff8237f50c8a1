// Finds what would keep a server from starting, without starting one: `turtle -t`.
//
// A server may be running with this configuration and must not be disturbed. So the check doesn't
// listen at any of its ports, write to a file, or connect to anything.
//
// Thread: pure, except that it looks at the file system and at the addresses of this machine; a
// name may cost a query to a DNS server.
#pragma once

#include <string>
#include <vector>

#include "app/serve_options.h"

namespace TURTLE_SERVER {

/// Returns everything visible from outside that would keep a server from starting: places that are
/// invalid or collide, files that could not be made, directories that can't be entered.
/// @param options whose single values have been checked
/// @return one line per fault, without a newline: the key, the value, the reason
[[nodiscard]] auto ServeFaults(const ServeOptions& options) -> std::vector<std::string>;

/// Returns the faults that only a service manager can fix: ports that this user may not
/// bind.
/// @return as for ServeFaults()
[[nodiscard]] auto StartWarnings(const ServeOptions& options) -> std::vector<std::string>;

/// Returns warnings about settings that are valid but unlikely, such as sizes under 1 KiB.
/// @return as for ServeFaults()
[[nodiscard]] auto ServeWarnings(ServeOptions options) -> std::vector<std::string>;

/// Logs ServeWarnings().
void LogWarnings(const ServeOptions& options);

}  // namespace TURTLE_SERVER
