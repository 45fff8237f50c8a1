// A web server whose one handler has a response cache in front of it, on a clock that only the test
// turns.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "response_cache/caching_handler.h"
#include "support/clocked_server.h"
#include "support/http_client.h"
#include "support/running_server.h"

namespace TURTLE_SERVER::test {

/// Counts the requests that reach the handler. Declare objects that the handler uses before it.
class CachedServer {
 public:
  /// @param answer the body of the handler
  /// @param options of the cache
  /// @param server options of the server
  explicit CachedServer(Answer answer, ResponseCacheOptions options = {}, HttpOptions server = {})
      : server_(
            [this, &answer, &options](Looper& looper, LoopHttp& http) {
              auto count = [this, answer = std::move(answer)](Exchange& exchange) {
                ++calls_;
                answer(exchange);
              };
              auto cache = std::make_unique<CachingHandler>(looper, options, table_,
                                                            Answering(std::move(count))(looper));
              cache_ = cache.get();
              http.Mount("/", std::move(cache));
            },
            std::move(server)) {}

  /// Returns the server.
  [[nodiscard]] auto Server() -> ClockedServer& { return server_; }

  /// Returns its port.
  [[nodiscard]] auto Port() const -> int { return server_.Port(); }

  /// Returns how many requests have reached the handler.
  [[nodiscard]] auto Calls() -> int {
    return server_.Loop().Ask([this] { return calls_; });
  }

  /// Waits until `count` requests wait for another request's response.
  [[nodiscard]] auto AwaitWaiting(std::size_t count) -> bool {
    return server_.Loop().Await([this, count] { return cache_->Waiting() == count; });
  }

  /// Returns the cache. The loop's thread.
  [[nodiscard]] auto Cache() -> CachingHandler& { return *cache_; }

  /// Returns how many keys all loops know.
  [[nodiscard]] auto Keys() -> std::size_t { return table_->Size(); }

  /// Sends a request on its own connection.
  auto Ask(std::string_view target, std::string_view fields = {}) -> HttpReply {
    return HttpClient(Port()).Ask(Get(target, fields));
  }

 private:
  const std::shared_ptr<ReplyTable> table_ = std::make_shared<ReplyTable>();
  CachingHandler* cache_ = nullptr;
  int calls_ = 0;
  ClockedServer server_;
};

}  // namespace TURTLE_SERVER::test
