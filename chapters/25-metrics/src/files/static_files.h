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
// A cached file is sent from memory without a system call for the file. Otherwise a small file is
// read, and sent together with its head; a large one is sent by sendfile(2).
//
// Thread: the loop's.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/lru_cache.h"
#include "base/pin.h"
#include "base/unique_fd.h"
#include "files/file_cache.h"
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
  FileCacheOptions cache{};  ///< this loop's share of the cache; without max_bytes there is none
};

/// Serves the files of a directory.
class StaticFiles : public RequestHandler {
 public:
  /// Throws std::system_error, which names the directory, if it can't be opened.
  /// @param looper the loop whose requests this handler serves
  /// @param options what to serve
  StaticFiles(Looper& looper, StaticFilesOptions options);

  void Handle(Exchange& exchange) override;

  /// Returns the statistics of the cache; all zero without one.
  [[nodiscard]] auto CacheStats() const noexcept -> LruStats {
    return cache_ ? cache_->Stats() : LruStats();
  }

  /// Returns the same for other threads; nullptr without a cache.
  [[nodiscard]] auto SharedCacheStats() const -> std::shared_ptr<const LruStats> {
    return cache_ ? cache_->SharedStats() : nullptr;
  }

 private:
  auto FileNameOf(std::string_view path) -> std::string_view;
  auto FindCached(const Exchange& exchange) -> PinTo<CachedFile>;
  auto Cacheable(const Request& request) const noexcept -> bool;
  void AnswerCached(Exchange& exchange, const PinTo<CachedFile>& file);
  void Answer(Exchange& exchange);
  void AnswerFailure(Exchange& exchange, const std::string& name, int error) const;
  auto Open(const std::string& name) -> UniqueFd;
  auto LookUpRoot(RootFolder::Look look) -> bool;
  auto AnswerFile(const Request& request, std::string_view type, UniqueFd file,
                  const struct stat& status) const -> Response;

  Looper& looper_;
  const StaticFilesOptions options_;
  RootFolder root_;
  std::unique_ptr<FileCache> cache_;
  bool hides_index_ = false;  // the index page itself is hidden, and found under its directory only
  std::string index_name_;    // of a directory's page; its memory is reused
};

}  // namespace TURTLE_SERVER
