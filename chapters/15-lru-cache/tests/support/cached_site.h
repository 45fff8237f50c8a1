// A directory that is served from a cache, on a clock that only the test turns.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "files/static_files.h"
#include "support/clocked_server.h"
#include "support/http_client.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER::test {

/// A site with its server and one client.
class CachedSite {
 public:
  /// @param cache how much is kept and when it is checked
  explicit CachedSite(FileCacheOptions cache = Watching())
      : server_([&](Looper& looper, LoopHttp& http) {
          StaticFilesOptions options;
          options.root = folder_.Path("site");
          options.cache = cache;
          auto files = std::make_unique<StaticFiles>(looper, options);
          files_ = files.get();
          http.Mount("/", std::move(files));
        }),
        client_(server_.Port()) {}

  /// Returns a cache that is large enough for every test.
  static auto Watching() -> FileCacheOptions {
    FileCacheOptions options;
    options.max_bytes = std::size_t{64} * 1024 * 1024;
    return options;
  }

  /// Returns the same, except that it checks at every request.
  static auto Looking() -> FileCacheOptions {
    FileCacheOptions options = Watching();
    options.check = FileCheck::kAlways;
    return options;
  }

  /// Returns the directory. The site is its subdirectory "site"; files beside it are not served.
  [[nodiscard]] auto Folder() const -> const SiteFolder& { return folder_; }

  /// Returns the path of a file in the site.
  [[nodiscard]] auto Path(std::string_view name) const -> std::string {
    return folder_.Path(std::string("site/").append(name));
  }

  /// Writes a file of the site.
  void Write(std::string_view name, std::string_view content) const {
    folder_.Write(std::string("site/").append(name), content);
  }

  /// Requests a page.
  auto Ask(std::string_view path, std::string_view fields = {}) -> HttpReply {
    return client_.Ask(Get(path, fields));
  }

  /// Returns the statistics of the cache.
  auto Stats() -> LruStats {
    return server_.Loop().Ask([this] { return files_->CacheStats(); });
  }

  /// Requests a page until it comes from the cache: where every request is compared with the file,
  /// a file is kept only if its last change is a while ago. @return false after kPatience.
  [[nodiscard]] auto AwaitHit(std::string_view path) -> bool {
    const std::uint64_t hits = Stats().hits;
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (Ask(path).status == 200 && std::chrono::steady_clock::now() < deadline) {
      if (Stats().hits > hits) {
        return true;
      }
    }
    return false;
  }

  /// Returns the server.
  [[nodiscard]] auto Server() -> ClockedServer& { return server_; }

 private:
  class FolderWithSite : public SiteFolder {
   public:
    FolderWithSite() { Write("site/.keep", ""); }
  };

  FolderWithSite folder_;
  StaticFiles* files_ = nullptr;
  ClockedServer server_;
  HttpClient client_;
};

}  // namespace TURTLE_SERVER::test
