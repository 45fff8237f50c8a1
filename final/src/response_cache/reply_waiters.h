// Exchanges of one loop that wait for a response that another request has begun.
//
// Interface:
//  * Add() has an exchange wait; it vanishes from here when its client goes.
//  * Tell() says, from any thread, that something is over: the exchanges that waited for it are
//    served.
//
// Thread: the loop's, but for Tell().
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

/// Those of one loop who wait.
class ReplyWaiters {
 public:
  /// Answers an exchange that has waited for `waits` replies so far. May throw: its client then
  /// gets a 500.
  using Serve = std::function<void(Exchange& exchange, int waits)>;

  /// @param looper outlives this object
  /// @param serve called for each who has waited
  ReplyWaiters(Looper& looper, Serve serve);
  ~ReplyWaiters();
  ReplyWaiters(const ReplyWaiters&) = delete;
  auto operator=(const ReplyWaiters&) -> ReplyWaiters& = delete;

  /// Has `exchange` wait until `making` is over.
  /// @param exchange not answered yet; its attachment is replaced
  /// @param making what it waits for
  /// @param waits for so many it will have waited then
  void Add(Exchange& exchange, std::shared_ptr<const Making> making, int waits);

  /// Has those served, soon, whose reply is over. Any thread.
  void Tell() noexcept;

  /// Returns how many wait.
  [[nodiscard]] auto Count() const noexcept -> std::size_t { return all_.size(); }

 private:
  class Waiter;

  void ServeThoseWhoCan();
  void LookAgainLater();

  Looper& looper_;
  const Serve serve_;
  std::list<Waiter*> all_;  // each is owned by its exchange, and takes itself out
  std::optional<TimerId> timer_;
};

}  // namespace TURTLE_SERVER
