#include "sites/sites.h"

#include <cstddef>
#include <utility>

#include "sites/site_files.h"
#include "sites/sites_handler.h"

namespace TURTLE_SERVER {

namespace {

constexpr std::size_t kCacheBytes = std::size_t{16} << 20;  // of a loop

}  // namespace

Sites::Sites(const SitesOptions& options) : table_(std::make_shared<const SiteTable>(options)) {}

auto Sites::Files(StaticFilesOptions options) -> HandlerFactory {
  return [this, options = std::move(options)](Looper& looper) {
    return std::make_unique<SitesHandler>(
        looper, table_,
        [options](Looper& its, const SiteTable& table, const Site& site) {
          StaticFilesOptions files = options;
          files.cache.max_bytes = files.cache.max_bytes.value_or(kCacheBytes) / table.All().size();
          return std::make_unique<SiteFiles>(its, site, std::move(files));
        },
        pool_);
  };
}

auto Sites::Around(HandlerFactory inner) -> HandlerFactory {
  return [this, inner = std::move(inner)](Looper& looper) {
    return std::make_unique<SitesHandler>(looper, table_, inner(looper), pool_);
  };
}

}  // namespace TURTLE_SERVER
