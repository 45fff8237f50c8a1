// Keeps the responses of a handler, and serves them to later requests for the same (RFC 9111).
//
//   server.Mount("/api", Cached(options, [](Looper&) { return std::make_unique<Api>(); }));
//
// The response decides: Cache-Control, Expires, Vary, Age, Set-Cookie. One that says nothing, and
// has a status that allows it, is kept for ResponseCacheOptions::default_ttl, but not if the
// request has a Cookie. Requests with Authorization or Range, with a body, or of another method
// than GET and HEAD go to the handler; one that may change something drops the kept responses of
// its target. Requests that are alike wait for one response.
//
// Ways to write one target are one target: "//a", "/./a" and "/%61" are "/a". Only the handler's
// own words are kept: no error page of Exchange::Abort().
//
// A handler whose responses depend on a field of the request has to say so in Vary, or one client
// gets what was meant for another.
//
// Not for StaticFiles: it has its own cache, which is never stale.
//
// Thread: pure; the result is called in HttpServer::Begin().
#pragma once

#include <chrono>
#include <cstddef>

#include "core/connection.h"
#include "web/request_handler.h"

namespace TURTLE_SERVER {

/// How much is kept of replies, and for how long.
struct ResponseCacheOptions {
  /// Of one loop, bookkeeping included. The text of a response is shared by the loops that keep it,
  /// and counts for each.
  std::size_t max_bytes = std::size_t{16} << 20;
  /// Of one reply with its bookkeeping; a longer one is not kept. Replies that are under way keep
  /// it in memory, so it should be no more than a client may have unsent anyway.
  std::size_t max_reply_bytes = Connection::kHighWater;
  /// How long a response is fresh that doesn't say so.
  std::chrono::seconds default_ttl{10};
};

/// Puts one cache in front of the handlers that `factory` makes.
/// @param options how much is kept
/// @param factory makes a handler for each loop
/// @return for HttpServer::Mount()
[[nodiscard]] auto Cached(const ResponseCacheOptions& options, HandlerFactory factory)
    -> HandlerFactory;

}  // namespace TURTLE_SERVER
