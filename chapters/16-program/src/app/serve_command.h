// `turtle serve`: serves a directory as a web site, until a signal.
#pragma once

#include <iosfwd>

#include "app/serve_options.h"

namespace TURTLE_SERVER {

/// Serves until SIGINT or SIGTERM. The first of them lets responses under way finish; a second one
/// ends the program at once.
/// @param options checked
/// @param out gets one line with the address as soon as clients can connect
/// @param errors gets one line if the server can't be started
/// @return the program's exit code: 0; 1 if the server could not be started; 2 if an option is
///         invalid, such as a malformed address
auto Serve(const ServeOptions& options, std::ostream& out, std::ostream& errors) -> int;

}  // namespace TURTLE_SERVER
