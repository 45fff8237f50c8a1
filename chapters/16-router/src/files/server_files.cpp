// HttpServer::Files().
//
// It is a member of the server, because users look for it there; but it is implemented up here,
// because the room `web` knows nothing of files.
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "files/static_files.h"
#include "web/http_server.h"

namespace TURTLE_SERVER {

auto HttpServer::Files(std::string prefix, std::string directory) -> HttpServer& {
  constexpr std::size_t kCacheBytes = std::size_t{64} << 20;
  StaticFilesOptions options;
  options.root = std::move(directory);
  options.cache.max_bytes = kCacheBytes;
  return Files(std::move(prefix), options);
}

auto HttpServer::Files(std::string prefix, const StaticFilesOptions& options) -> HttpServer& {
  StaticFilesOptions share = options;
  share.cache.max_bytes /= Loopers().size();
  return Mount(std::move(prefix), [share = std::move(share)](Looper& looper) {
    return std::make_unique<StaticFiles>(looper, share);
  });
}

}  // namespace TURTLE_SERVER
