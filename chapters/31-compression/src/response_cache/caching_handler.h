// Caches a handler's responses for later equal requests: one loop's part of Cached().
//
// A request can end in four ways. It gets a response from this loop's cache or from another loop's;
// it waits for the response that another request has begun; or it goes to the handler, and its
// response is recorded and stored. The first way takes no lock and allocates nothing.
//
// If the server compresses, a loop keeps variants beside a response: the same in other codings.
// Each is made for the first client that likes its coding best, and goes with the plain response.
//
// A request that has waited looks again. Either the response is there; or it could not be stored,
// which is noted; or the client of the request that made it is gone, and the first waiting one
// takes over. No request waits more than twice.
//
// Thread: the loop's.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/lru_cache.h"
#include "base/pin.h"
#include "compress/coding.h"
#include "compress/compression.h"
#include "core/looper.h"
#include "http/cache_policy.h"
#include "response_cache/kept_reply.h"
#include "response_cache/reply_table.h"
#include "response_cache/reply_waiters.h"
#include "response_cache/response_cache.h"
#include "web/request_handler.h"

namespace TURTLE_SERVER {

/// One loop's cache in front of a handler.
class CachingHandler : public RequestHandler {
 public:
  /// How long requests don't wait for each other after a response that could not be stored.
  static constexpr std::chrono::seconds kNeverTime{10};

  /// @param looper the loop whose requests this handler serves
  /// @param options limits of the cache
  /// @param table shared by the cache's parts on all loops
  /// @param inner makes the responses
  CachingHandler(Looper& looper, const ResponseCacheOptions& options,
                 std::shared_ptr<ReplyTable> table, std::unique_ptr<RequestHandler> inner);

  void Handle(Exchange& exchange) override { Serve(exchange, 0); }

  /// Returns hits, misses and sizes of this loop.
  [[nodiscard]] auto Stats() const noexcept -> const LruStats& { return entries_.Stats(); }

  /// Returns the same for other threads.
  [[nodiscard]] auto SharedStats() const -> std::shared_ptr<const LruStats> {
    return entries_.SharedStats();
  }

  /// Returns how many exchanges of this loop wait for a response that another request has begun.
  [[nodiscard]] auto Waiting() const noexcept -> std::size_t { return waiters_.Count(); }

 private:
  // A response as one loop holds it: its pins are counted without atomic operations.
  class LocalReply;
  class Recorder;
  class Invalidation;

  void Serve(Exchange& exchange, int waits);
  auto Look(const Exchange& exchange) -> PinTo<LocalReply>;
  auto Find(const std::string& key) -> PinTo<LocalReply>;
  void Answer(Exchange& exchange, const PinTo<LocalReply>& plain);
  auto Negotiated(const Exchange& exchange, const PinTo<LocalReply>& plain) -> PinTo<LocalReply>;
  auto MakeVariant(const Compression& compression, const PinTo<LocalReply>& plain, Coding coding)
      -> PinTo<LocalReply>;
  void PassBy(Exchange& exchange);
  void Make(Exchange& exchange, const CacheAsk& ask, const std::shared_ptr<Making>& making);
  auto Keep(const Making& making, std::unique_ptr<KeptReply> kept) -> bool;
  auto KeepLocally(std::shared_ptr<const KeptReply> kept) -> PinTo<LocalReply>;
  auto Store(const PinTo<LocalReply>& local) -> bool;
  auto KeepReply(const Making& making, const RecordedHead& head, const Exchange& exchange,
                 std::string_view body) -> bool;
  void KeepNever(const Making& making);
  void End(const Making& making) noexcept;

  Looper& looper_;
  const ResponseCacheOptions options_;
  const std::shared_ptr<ReplyTable> table_;
  LruCache<std::string, PinTo<LocalReply>> entries_;
  ReplyWaiters waiters_;
  std::size_t heard_bytes_ = 0;  // of bodies, by all recorders
  std::string key_;              // of the request that is being served; its memory is reused
  std::string start_;            // of the response; likewise
  const std::unique_ptr<RequestHandler> inner_;
};

}  // namespace TURTLE_SERVER
