// `turtle serve`: a folder as a web site, until a signal. SIGHUP has the settings read anew,
// SIGUSR2 has the program started anew, with this one's listeners.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "app/options.h"

namespace TURTLE_SERVER {

/// Reads the settings anew, as ReadAgain() does.
using Reread = std::function<CommandLine()>;

/// Serves until SIGINT or SIGTERM, or until a successor does. SIGTERM drains, HttpServer::Drain();
/// SIGINT only lets replies under way finish. A second one ends the program at once.
///
/// What systemd or a predecessor has left to this process in the environment is taken from there:
/// listeners (core/inherited_listeners.h), who is to be told (core/service_notifier.h) and who
/// waits (app/hand_over.h).
/// @param options checked
/// @param out gets one line with the address as soon as clients can connect
/// @param errors gets one line when the server can't be started
/// @param reread called at SIGHUP, on the thread that serves. What it returns counts at once as far
///     as that is possible, and the log tells what has to wait; when it finds mistakes, they are
///     logged and nothing changes. Empty: the log says that there is nothing to reload.
/// @param command argv of main(), by which SIGUSR2 starts the program anew. Empty: SIGUSR2 is left
///     alone.
/// @return the program's exit code: 0; 1 if the server could not be started; 2 if an option is
///         invalid, such as a malformed address
auto Serve(const ServeOptions& options, std::ostream& out, std::ostream& errors,
           const Reread& reread = {}, const std::vector<std::string>& command = {}) -> int;

}  // namespace TURTLE_SERVER
