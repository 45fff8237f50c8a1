// `turtle serve`: serves a directory as a web site, until a signal. SIGHUP reloads the settings.
#pragma once

#include <iosfwd>

#include "app/serve_options.h"
#include "app/settings_reader.h"

namespace TURTLE_SERVER {

/// Serves until SIGINT or SIGTERM. The first of them lets responses under way finish; a second one
/// ends the program at once.
/// @param options checked
/// @param out gets one line with the address as soon as clients can connect
/// @param errors gets one line if the server can't be started
/// @param reread called at SIGHUP, on the thread that serves. Its result takes effect at once if
///     possible, and the log lists what needs a restart. If it finds mistakes, they are logged and
///     nothing changes. Empty: the log says that there is nothing to reload.
/// @return the program's exit code: 0; 1 if the server could not be started; 2 if an option is
///         invalid, such as a malformed address
auto Serve(const ServeOptions& options, std::ostream& out, std::ostream& errors,
           const Reread& reread = {}) -> int;

}  // namespace TURTLE_SERVER
