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
// If the server compresses, text is kept in the codings that clients have asked for: from files
// that were encoded in advance ("style.css.br" beside "style.css"), or encoded here.
//
// A cached file is sent from memory without a system call for the file. Otherwise a small file is
// read, and sent together with its head; a large one is sent by sendfile(2).
//
// Interface:
//  * Handle() responds with the file of the request.
//  * CacheStats() and SharedCacheStats() return the statistics of the cache.
//
// For a derived class, which changes what is served (sites/site_files.h):
//  * OnMissing() is called if there is no such file, in place of the 404.
//  * TryFile() responds with another file of the directory.
//  * TypeOf() returns the Content-Type of a file.
//  * Root() returns the open directory.
//
// A file that exists is served without OnMissing(), and from the cache without TypeOf() as well.
//
// Thread: the loop's.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/lru_cache.h"
#include "base/pin.h"
#include "base/unique_fd.h"
#include "files/file_cache.h"
#include "files/file_coder.h"
#include "files/root_folder.h"
#include "http/request.h"
#include "web/request_handler.h"

namespace TURTLE_SERVER {

/// The options of a StaticFiles.
struct StaticFilesOptions {
  std::string root = ".";                    ///< the directory
  std::string index = "index.html";          ///< the page of a directory; "" for none
  bool dot_files = false;                    ///< true: names that begin with a dot are served
  std::size_t max_copied_bytes = 32 * 1024;  ///< larger files are sent by sendfile(2)
  FileCacheOptions cache{};  ///< this loop's share of the cache; without max_bytes there is none
};

/// Serves the files of a directory. A derived class may serve others in place of missing ones.
class StaticFiles : public RequestHandler {
 public:
  /// Throws std::system_error, which names the directory, if it can't be opened.
  /// @param looper the loop whose requests this handler serves
  /// @param options what to serve
  StaticFiles(Looper& looper, StaticFilesOptions options);

  /// Responds with the file of the request, or calls OnMissing(). Methods other than GET and HEAD
  /// concern no file: OPTIONS gets a 204, and the rest a 405.
  void Handle(Exchange& exchange) override;

  /// Returns the statistics of the cache; all zero without one.
  [[nodiscard]] auto CacheStats() const noexcept -> LruStats {
    return cache_ ? cache_->Stats() : LruStats();
  }

  /// Returns the same for other threads; nullptr without a cache.
  [[nodiscard]] auto SharedCacheStats() const -> std::shared_ptr<const LruStats> {
    return cache_ ? cache_->SharedStats() : nullptr;
  }

 protected:
  /// Responds in place of a 404; the default leaves that to the caller. Called for a GET or HEAD if
  /// there is no regular file to serve: no such name, a device or a pipe, or a directory without an
  /// index page, requested with its slash. A link that leads out of the directory counts as
  /// missing. Not called for a name that is hidden because of a dot, for a redirect to a directory,
  /// or for a file that can't be opened (403, 500, 503). It may throw, as Handle() may.
  /// @param exchange has no response yet; its SubPath() is the requested path
  /// @param name of the file, relative to Root(): "docs/index.html" for the path "/docs/", or
  ///     "docs/" if the option `index` is empty
  /// @param error errno of open(2), such as ENOENT; 0 if it succeeded, but for no regular file
  /// @return true if it has replied, or will; false: the client gets a 404
  virtual auto OnMissing(Exchange& exchange, const std::string& name, int error) -> bool;

  /// Responds to a GET or HEAD with a file of the directory, as if the client had requested it.
  /// The conditions and ranges of the request apply to it: 200, 206, 304, 412 or 416. The file is
  /// cached under its own name, and a hit needs no system call for it, whichever path was
  /// requested. A file that exists but can't be opened gets an error page: 403, 500 or 503.
  /// @param exchange has no response yet
  /// @param path of the file in the directory, decoded, such as "/index.html"; with a slash at its
  ///     end, that of a directory's index page. It may contain text of the request.
  /// @return true if it has replied. False if there is no regular file of that name, or if the name
  ///     is hidden because of a dot. False as well for a path that no request can have: without a
  ///     slash in front, or with a dot segment, an empty segment or a NUL byte.
  auto TryFile(Exchange& exchange, std::string_view path) -> bool;

  /// Returns the Content-Type of a file, by default MimeType(). Called for a file that has been
  /// opened. A hit of the cache keeps its type, so the type must depend on the name alone.
  /// @param name relative to Root(), never empty
  /// @return a valid field value, without CR and LF: it is sent as it is. Must stay valid until the
  ///     next call.
  [[nodiscard]] virtual auto TypeOf(std::string_view name) const -> std::string_view;

  /// Returns the open directory, borrowed, for OpenBeneath(); it may be open only to pass through.
  /// Valid until TryFile() or the next request, which may replace it.
  [[nodiscard]] auto Root() const noexcept -> int { return root_.Get(); }

 private:
  auto FileNameOf(std::string_view path) -> std::string_view;
  auto FindCached(const Request& request, std::string_view path) -> PinTo<CachedFile>;
  auto IsHidden(std::string_view path) const noexcept -> bool;
  auto Cacheable(const Request& request) const noexcept -> bool;
  void AnswerCached(Exchange& exchange, const PinTo<CachedFile>& plain);
  auto Negotiated(const Exchange& exchange, const PinTo<CachedFile>& file) -> PinTo<CachedFile>;
  void Answer(Exchange& exchange);
  void AnswerFailure(Exchange& exchange, const std::string& name, int error);
  void AnswerMissing(Exchange& exchange, const std::string& name, int error);
  void AnswerFile(Exchange& exchange, const std::string& name, UniqueFd file,
                  const struct stat& status);
  auto Open(const std::string& name) -> UniqueFd;
  auto LookUpRoot(RootFolder::Look look) -> bool;
  auto IsClosedFolder(const std::string& name, int error) const noexcept -> bool;

  Looper& looper_;
  const StaticFilesOptions options_;
  RootFolder root_;
  std::unique_ptr<FileCache> cache_;
  std::optional<FileCoder> coder_;  // of the cache's files
  bool hides_index_ = false;  // the index page itself is hidden, and found under its directory only
  std::string index_name_;    // of a directory's page; its memory is reused
};

}  // namespace TURTLE_SERVER
