// Sends files of a directory from the handlers of routes.
//
//   const RouteFiles reports("reports");
//   server.Get("/reports/{id:int}", [&reports](const ServerRequest& req, ServerResponse& res) {
//     RequireLogin(req);
//     reports.Send(req, res, std::string(req.Parameter("id")) + ".pdf");
//   });
//
// The handler decides which client gets which file. If the paths of a site are the names of its
// files, mount a StaticFiles (files/static_files.h), which also has a cache.
//
// Thread: any; the loops share one object.
#pragma once

#include <string>

#include "base/unique_fd.h"
#include "web/server_request.h"
#include "web/server_response.h"

namespace TURTLE_SERVER {

/// Sends the files of one directory.
class RouteFiles {
 public:
  /// Opens the directory. Another directory that takes its name later is ignored.
  /// @param directory path
  /// @throws std::system_error, which names it, if it can't be opened
  explicit RouteFiles(const std::string& directory);

  /// Makes the file at `path` the body of `response`, with its Content-Type, ETag and
  /// Last-Modified. A condition or a range in the request may turn it into a 304, 206, 412 or 416.
  /// Existing fields of `response` are kept unless it becomes an error page. A large file is sent
  /// from its place on disk, by sendfile(2).
  /// @param request usually GET or HEAD
  /// @param response gets status, fields and body
  /// @param path relative to the directory. Neither dots nor links lead out of it, so it may
  ///     contain a parameter of the route. A name that begins with a dot is not found.
  /// @throws HttpError 404, 403, 503 or 500 if there is no such file, or it can't be opened
  void Send(const ServerRequest& request, ServerResponse& response, const std::string& path) const;

 private:
  UniqueFd directory_;
};

}  // namespace TURTLE_SERVER
