// Converts the settings of `turtle serve` into the options of its parts.
//
// Thread: pure. The handlers of a factory belong to the loop for which they were made.
#pragma once

#include <memory>

#include "app/serve_options.h"
#include "core/server_options.h"
#include "log/log_writer.h"
#include "web/http_server.h"

namespace TURTLE_SERVER {

/// Returns the limits and timeouts of a request.
/// @param options checked
[[nodiscard]] auto HttpOf(const ServeOptions& options) -> HttpOptions;

/// Returns the options of the loops, their listeners and their clients.
/// @param options checked
[[nodiscard]] auto ServerOf(const ServeOptions& options) -> ServerOptions;

/// Returns the factory of handlers for the directory's files.
/// @param options checked; they are copied
[[nodiscard]] auto FilesHandler(const ServeOptions& options) -> HandlerFactory;

/// Returns the factory of handlers for CGI programs.
/// @param options checked, with a directory of programs; they are copied
[[nodiscard]] auto ProgramsHandler(const ServeOptions& options) -> HandlerFactory;

/// Opens the access log.
/// @param options checked
/// @return nullptr if the options have none
/// @throws std::system_error if the file can't be opened
[[nodiscard]] auto AccessLogOf(const ServeOptions& options) -> std::shared_ptr<LogWriter>;

}  // namespace TURTLE_SERVER
