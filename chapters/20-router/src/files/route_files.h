// Files of a directory, sent by the handlers of routes.
//
//   const RouteFiles reports("reports");
//   server.Get("/reports/{id:int}", [&reports](const ServerRequest& req, ServerResponse& res) {
//     RequireLogin(req);
//     reports.Send(req, res, std::string(req.Parameter("id")) + ".pdf");
//   });
//
// The handler decides who gets a file, and which. A site whose paths are the files' names is a
// mounted StaticFiles (files/static_files.h), which has a cache as well.
//
// Thread: any; the loops share one.
#pragma once

#include <string>

#include "base/unique_fd.h"
#include "web/server_request.h"
#include "web/server_response.h"

namespace TURTLE_SERVER {

/// Sends the files of one directory.
class RouteFiles {
 public:
  /// Opens the directory; another one that takes its name later is not seen.
  /// @param directory path
  /// @throws std::system_error, which names it, if it can't be opened
  explicit RouteFiles(const std::string& directory);

  /// Makes the file at `path` the body of `response`, with its Content-Type, ETag and
  /// Last-Modified. A condition or a range in the request may make it 304, 206, 412 or 416. Fields
  /// that `response` has are kept unless it becomes an error page. A large file is sent from where
  /// it is, by sendfile(2).
  /// @param request GET or HEAD, as a rule
  /// @param response gets status, fields and body
  /// @param path relative to the directory. Neither dots nor links lead out of it, so a parameter
  ///     of the route may be a part of it; a name that begins with a dot is not found.
  /// @throws HttpError 404, 403, 503 or 500 if there is no such file, or it can't be opened
  void Send(const ServerRequest& request, ServerResponse& response, const std::string& path) const;

 private:
  UniqueFd directory_;
};

}  // namespace TURTLE_SERVER
