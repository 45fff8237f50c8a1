// `turtle serve`: serves a directory as a web site, until a signal. SIGHUP reloads the settings,
// SIGUSR2 restarts the program and hands over the listeners.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "app/serve_options.h"
#include "app/settings_reader.h"

namespace TURTLE_SERVER {

/// Serves until SIGINT or SIGTERM, or until a successor does. SIGTERM drains, HttpServer::Drain();
/// SIGINT only lets responses under way finish. A second one ends the program at once.
///
/// Takes from the environment the data of systemd or a predecessor: listeners
/// (ops/inherited_listeners.h), the socket for notices (ops/service_notifier.h) and a waiting
/// predecessor (app/hand_over.h).
/// @param options checked
/// @param out gets one line with the address as soon as clients can connect
/// @param errors gets one line if the server can't be started
/// @param reread called at SIGHUP, on the thread that serves. Its result takes effect at once if
///     possible, and the log lists what needs a restart. If it finds mistakes, they are logged and
///     nothing changes. Empty: the log says that there is nothing to reload.
/// @param command argv of main(), with which SIGUSR2 restarts the program. Empty: SIGUSR2 keeps its
///     action.
/// @return the program's exit code: 0; 1 if the server could not be started; 2 if an option is
///         invalid, such as a malformed address
auto Serve(const ServeOptions& options, std::ostream& out, std::ostream& errors,
           const Reread& reread = {}, const std::vector<std::string>& command = {}) -> int;

}  // namespace TURTLE_SERVER
