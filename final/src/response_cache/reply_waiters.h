// Holds the exchanges of one loop that wait for another request's response.
//
// Interface:
//  * Add() makes an exchange wait; it disappears from here if its client closes.
//  * Tell() reports, from any thread, that a response is over, and the exchanges that waited for it
//    are served.
//
// Thread: the loop's, except for Tell().
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <optional>

#include "core/looper.h"
#include "response_cache/reply_table.h"
#include "web/exchange.h"

namespace TURTLE_SERVER {

/// The waiting exchanges of one loop.
class ReplyWaiters {
 public:
  /// Serves an exchange that has waited for `waits` responses so far. If it throws, the client gets
  /// a 500.
  using Serve = std::function<void(Exchange& exchange, int waits)>;

  /// @param looper outlives this object
  /// @param serve called for each exchange that has waited
  ReplyWaiters(Looper& looper, Serve serve);
  ~ReplyWaiters();
  ReplyWaiters(const ReplyWaiters&) = delete;
  auto operator=(const ReplyWaiters&) -> ReplyWaiters& = delete;

  /// Makes `exchange` wait until `making` is over.
  /// @param exchange without a response; its attachment is replaced
  /// @param making the response that it waits for
  /// @param waits how many responses it will have waited for then
  void Add(Exchange& exchange, std::shared_ptr<const Making> making, int waits);

  /// Soon serves the exchanges whose wait is over. Any thread.
  void Tell() noexcept;

  /// Returns how many exchanges wait.
  [[nodiscard]] auto Count() const noexcept -> std::size_t { return all_.size(); }

 private:
  class Waiter;

  void ServeThoseWhoCan();
  void LookAgainLater();

  Looper& looper_;
  const Serve serve_;
  std::list<Waiter*> all_;  // each is owned by its exchange, and removes itself
  std::optional<TimerId> timer_;
};

}  // namespace TURTLE_SERVER
