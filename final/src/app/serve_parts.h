// Converts the settings of `turtle serve` into the options of its parts.
//
// Thread: pure. The handlers of a factory belong to the loop for which they were made.
#pragma once

#include <memory>

#include "app/https.h"
#include "app/serve_options.h"
#include "core/address_limit.h"
#include "core/server_options.h"
#include "log/log_writer.h"
#include "ops/server_figures.h"
#include "sites/site_logs.h"
#include "sites/sites.h"
#include "web/http_server.h"

namespace TURTLE_SERVER {

/// Returns the limits and timeouts of a request.
/// @param options checked
[[nodiscard]] auto HttpOf(const ServeOptions& options) -> HttpOptions;

/// Returns the options of the loops, their listeners and their clients.
/// @param options checked
/// @param https makes channels with TLS, and outlives the server; nullptr: no client has it
[[nodiscard]] auto ServerOf(const ServeOptions& options, Https* https) -> ServerOptions;

/// Returns the limit of each address. The proxies of both kinds are exempt.
/// @param options checked
[[nodiscard]] auto AddressLimitOf(const ServeOptions& options) -> AddressLimit;

/// Returns the factory of handlers for the directory's files.
/// @param options checked; they are copied
/// @param statistics gets the cache's counts, and outlives the handlers; nullptr: none
[[nodiscard]] auto FilesHandler(const ServeOptions& options, ServerFigures* statistics)
    -> HandlerFactory;

/// Returns the table of sites. No rule permits a longer body than the server does.
/// @param options checked
[[nodiscard]] auto SitesOf(const ServeOptions& options) -> SitesOptions;

/// Returns the factory of handlers for the files of all sites.
/// @param options checked; they are copied
/// @param sites outlive the handlers
[[nodiscard]] auto SiteFilesHandler(const ServeOptions& options, Sites& sites) -> HandlerFactory;

/// Returns the factory of handlers for CGI programs, with a cache if the options have one.
/// @param options checked, with a directory of programs; they are copied
/// @param statistics as for FilesHandler()
[[nodiscard]] auto ProgramsHandler(const ServeOptions& options, ServerFigures* statistics)
    -> HandlerFactory;

/// Opens the access log.
/// @param options checked
/// @return nullptr if the options have none
/// @throws std::system_error if the file can't be opened
[[nodiscard]] auto AccessLogOf(const ServeOptions& options) -> std::shared_ptr<LogWriter>;

/// Returns how the access logs of sites are written: as the server's.
/// @param options checked
/// @param server the result of AccessLogOf()
[[nodiscard]] auto SiteLogsOf(const ServeOptions& options, std::shared_ptr<LogWriter> server)
    -> SiteLogOptions;

}  // namespace TURTLE_SERVER
