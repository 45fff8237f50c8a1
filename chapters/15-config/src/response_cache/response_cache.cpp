#include "response_cache/response_cache.h"

#include <memory>
#include <utility>

#include "response_cache/caching_handler.h"

namespace TURTLE_SERVER {

auto Cached(const ResponseCacheOptions& options, HandlerFactory factory) -> HandlerFactory {
  return [options, factory = std::move(factory),
          table = std::make_shared<ReplyTable>()](Looper& looper) {
    return std::make_unique<CachingHandler>(looper, options, table, factory(looper));
  };
}

}  // namespace TURTLE_SERVER
