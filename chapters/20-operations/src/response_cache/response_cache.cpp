#include "response_cache/response_cache.h"

#include <memory>
#include <utility>

#include "response_cache/caching_handler.h"

namespace TURTLE_SERVER {

auto Cached(const ResponseCacheOptions& options, HandlerFactory factory, CacheMade made)
    -> HandlerFactory {
  return [options, factory = std::move(factory), made = std::move(made),
          table = std::make_shared<ReplyTable>()](Looper& looper) {
    auto handler = std::make_unique<CachingHandler>(looper, options, table, factory(looper));
    if (made) {
      made(looper, handler->SharedStats());
    }
    return handler;
  };
}

}  // namespace TURTLE_SERVER
