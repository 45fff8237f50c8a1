// Serves the files of a directory as a web site.
//
// It handles GET and HEAD, with validators, conditions and ranges. The response for a directory is
// its index page, or a redirect if the slash is missing. No file outside the directory can be
// reached: the path is decoded and has no dot segments (http/uri.h), and the kernel opens it
// beneath the directory (files/open_beneath.h). The file checked is the file sent: after the
// open(2) only the descriptor is used. The directory's own name is looked up again now and then
// (files/root_folder.h).
//
// The prefix of a mount is stripped: if `site` is mounted under "/docs", the path "/docs/a.html" is
// the file `site/a.html`.
//
// Names that begin with a dot are not served (`/.env`, `/.git/config`), except beneath
// `/.well-known/` (RFC 8615).
//
// A small file is read, and sent together with its head; a large one is sent by sendfile(2).
//
// Thread: the loop's.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "base/unique_fd.h"
#include "files/root_folder.h"
#include "http/request.h"
#include "http/response.h"
#include "web/request_handler.h"

namespace TURTLE_SERVER {

/// The options of a StaticFiles.
struct StaticFilesOptions {
  std::string root = ".";                    ///< the directory
  std::string index = "index.html";          ///< the page of a directory; "" for none
  bool dot_files = false;                    ///< true: names that begin with a dot are served
  std::size_t max_copied_bytes = 32 * 1024;  ///< larger files are sent by sendfile(2)
};

/// Serves the files of a directory.
class StaticFiles : public RequestHandler {
 public:
  /// Throws std::system_error, which names the directory, if it can't be opened.
  explicit StaticFiles(StaticFilesOptions options);

  void Handle(Exchange& exchange) override;

 private:
  void Answer(Exchange& exchange);
  void AnswerFailure(Exchange& exchange, const std::string& name, int error) const;
  auto Open(Exchange& exchange, const std::string& name) -> UniqueFd;
  auto AnswerFile(const Request& request, std::string_view type, UniqueFd file,
                  const struct stat& status) const -> Response;

  const StaticFilesOptions options_;
  RootFolder root_;
};

}  // namespace TURTLE_SERVER
