// Stores a handler's responses, and sends them to later equal requests (RFC 9111).
//
//   server.Mount("/api", Cached(options, [](Looper&) { return std::make_unique<Api>(); }));
//
// The response decides: Cache-Control, Expires, Vary, Age, Set-Cookie. A response without these,
// and with a cacheable status, is fresh for ResponseCacheOptions::default_ttl, unless the request
// has a Cookie. Requests with Authorization, Range, a body, or a method other than GET and HEAD go
// to the handler. A method that may change something drops the target's stored responses. Equal
// requests wait for one response.
//
// Different spellings of one target are equal: "//a", "/./a" and "/%61" are "/a". Only the
// handler's own responses are stored, not error pages of Exchange::Abort().
//
// A handler whose responses depend on a field of the request must name that field in Vary, or one
// client gets the response meant for another.
//
// Don't use it for StaticFiles, which has its own cache that is never stale.
//
// Thread: pure; the result is called in HttpServer::Begin().
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>

#include "base/lru_cache.h"
#include "core/connection.h"
#include "web/request_handler.h"

namespace TURTLE_SERVER {

/// Limits of the stored responses, and their lifetime.
struct ResponseCacheOptions {
  /// Bytes for one loop, bookkeeping included. The text of a response is shared by the loops that
  /// store it, and counts for each.
  std::size_t max_bytes = std::size_t{16} << 20;
  /// Bytes of one response with its bookkeeping; longer ones are not stored. Responses under way
  /// stay in memory, so the limit should not exceed what a client may have unsent anyway. If the
  /// server compresses, a response's other codings count as well. One that is too much is not
  /// stored, but made for each client.
  std::size_t max_reply_bytes = Connection::kHighWater;
  /// How long a response is fresh if it does not specify that.
  std::chrono::seconds default_ttl{10};
};

/// Receives the statistics of one loop's cache, for other threads to read.
using CacheMade = std::function<void(Looper&, std::shared_ptr<const LruStats>)>;

/// Puts one cache in front of the handlers that `factory` makes.
/// @param options limits
/// @param factory makes a handler for each loop
/// @param made called with each loop's share of the cache, when it is made; may be empty
/// @return a factory for HttpServer::Mount()
[[nodiscard]] auto Cached(const ResponseCacheOptions& options, HandlerFactory factory,
                          CacheMade made = {}) -> HandlerFactory;

}  // namespace TURTLE_SERVER
