// A handler's responses, kept for the next request for the same: one loop's share of Cached().
//
// A request has four possible ends. It is answered from this loop's cache, or from another loop's;
// it waits for the response that another request has begun; or it goes to the handler, and its
// response is recorded and kept. The first takes no lock and allocates nothing.
//
// A request that has waited looks again. The response may be there now; or it was not to be kept,
// which is noted; or the request that made it has gone, and the first waiting one takes over. No
// request waits more than twice.
//
// Thread: the loop's.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/lru_cache.h"
#include "base/pin.h"
#include "core/looper.h"
#include "http/cache_policy.h"
#include "response_cache/kept_reply.h"
#include "response_cache/reply_table.h"
#include "response_cache/reply_waiters.h"
#include "response_cache/response_cache.h"
#include "web/request_handler.h"

namespace TURTLE_SERVER {

/// One loop's cache before a handler.
class CachingHandler : public RequestHandler {
 public:
  /// How long requests don't wait for each other after a response that was not to be kept.
  static constexpr std::chrono::seconds kNeverTime{10};

  /// @param looper whose requests this handler answers
  /// @param options how much is kept
  /// @param table of the same cache on all loops
  /// @param inner makes the responses
  CachingHandler(Looper& looper, const ResponseCacheOptions& options,
                 std::shared_ptr<ReplyTable> table, std::unique_ptr<RequestHandler> inner);

  void Handle(Exchange& exchange) override { Serve(exchange, 0); }

  /// Hits, misses and sizes of this loop.
  [[nodiscard]] auto Stats() const noexcept -> const LruStats& { return entries_.Stats(); }

  /// Returns how many of this loop's exchanges wait for a response that another request has begun.
  [[nodiscard]] auto Waiting() const noexcept -> std::size_t { return waiters_.Count(); }

 private:
  // A response as one loop has it: its pins are counted without an atomic operation.
  class LocalReply;
  class Recorder;
  class Invalidation;

  void Serve(Exchange& exchange, int waits);
  auto Look(const Request& request) -> PinTo<LocalReply>;
  auto Find(const std::string& key) -> PinTo<LocalReply>;
  void Answer(Exchange& exchange, const PinTo<LocalReply>& local);
  void PassBy(Exchange& exchange);
  void Make(Exchange& exchange, const CacheAsk& ask, const std::shared_ptr<Making>& making);
  auto Keep(const Making& making, std::unique_ptr<KeptReply> kept) -> bool;
  auto KeepLocally(std::shared_ptr<const KeptReply> kept) -> PinTo<LocalReply>;
  auto KeepReply(const Making& making, const RecordedHead& head, const Request& request,
                 std::string_view body) -> bool;
  void KeepNever(const Making& making);
  void End(const Making& making) noexcept;

  Looper& looper_;
  const ResponseCacheOptions options_;
  const std::shared_ptr<ReplyTable> table_;
  LruCache<std::string, PinTo<LocalReply>> entries_;
  ReplyWaiters waiters_;
  std::size_t heard_bytes_ = 0;  // of bodies, by all recorders
  std::string key_;              // of the request that is being served; its memory is used again
  std::string start_;            // of the response, likewise
  const std::unique_ptr<RequestHandler> inner_;
};

}  // namespace TURTLE_SERVER
