// A run of `turtle-bench`: workers on their threads, and a loop that watches the clock.
#pragma once

#include <iosfwd>

#include "bench/options.h"

namespace TURTLE_SERVER {

/// Puts a server under load until the time is over, until SIGINT or SIGTERM, or, with
/// LoadMode::kIdle, until stdin ends.
///
/// The calling thread runs its own loop for clock, signals and progress.
/// @param options checked
/// @param out gets the report, or JSON if that goes to "-", and "READY" with LoadMode::kIdle
/// @param errors gets a line each second, the report if JSON goes to `out`, and one line if the run
///     can't begin or the server can't be reached from the start
/// @return the program's exit code: 0, or 1 if no request succeeded
auto RunLoad(const BenchOptions& options, std::ostream& out, std::ostream& errors) -> int;

}  // namespace TURTLE_SERVER
