// The kept responses of all loops: which there are, and which are being made.
//
// A loop looks here when it has not kept a response itself, so a hit never comes here. The table
// owns no response: the loops' caches do, and the last one that lets go of a response takes it out
// of the table. So the caches alone bound the memory.
//
// Interface:
//  * Find() gives a response that another loop has kept.
//  * Join() has the first caller make the response, and the others wait for it; Begin() has one
//    made besides. End() says that it is over, and returns the waiting loops.
//  * Keep() adds a response in place of an older one; Drop() says that the responses to a target
//    are wrong.
//
// A response that was begun before a Drop() is not kept after it.
//
// Thread: any.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "response_cache/kept_reply.h"

namespace TURTLE_SERVER {

class ReplyWaiters;

/// A response that is being made.
class Making {
 public:
  /// @param key under which it will be looked for
  explicit Making(std::string key) : key_(std::move(key)) {}

  /// Under which it will be looked for.
  [[nodiscard]] auto Key() const noexcept -> const std::string& { return key_; }

  /// Has it ended, well or not?
  [[nodiscard]] auto Over() const noexcept -> bool { return over_.load(std::memory_order_acquire); }

 private:
  friend class ReplyTable;

  const std::string key_;
  std::atomic<bool> over_{false};
  // Guarded by the table's mutex.
  bool dropped_ = false;
  std::vector<ReplyWaiters*> waiters_;
};

/// The result of Join().
struct Joined {
  std::shared_ptr<Making> making;  ///< nullptr: there is a fresh reply by now
  bool leads = false;              ///< the caller has to make it
};

/// The table, shared by the loops of one server.
class ReplyTable : public std::enable_shared_from_this<ReplyTable> {
 public:
  /// Returns the response kept under `key` that is fresh at `now`, or nullptr.
  [[nodiscard]] auto Find(std::string_view key, TimePoint now) -> std::shared_ptr<const KeptReply>;

  /// Waits for the response that is being made under `key`, or begins to make it.
  /// @param key of the response
  /// @param now a response that is fresh then is enough
  /// @param waiters returned by End() among others, if another caller is making the response
  [[nodiscard]] auto Join(const std::string& key, TimePoint now, ReplyWaiters& waiters) -> Joined;

  /// Begins to make a response for which no request waits.
  [[nodiscard]] auto Begin(const std::string& key) -> std::shared_ptr<Making>;

  /// Adds what was made, for as long as somebody has what is returned.
  /// @return nullptr: it was dropped while it was made
  [[nodiscard]] auto Keep(const Making& making, std::unique_ptr<KeptReply> kept)
      -> std::shared_ptr<const KeptReply>;

  /// Ends what Join() or Begin() has begun. @return who waits for it.
  [[nodiscard]] auto End(const Making& making) noexcept -> std::vector<ReplyWaiters*>;

  /// Says that the responses to one target are wrong from now on, in all variants.
  /// @param key as AppendTargetKey() writes it
  void Drop(std::string_view key);

  /// Returns how many keys there are; for tests.
  [[nodiscard]] auto Size() -> std::size_t;

 private:
  using Kept = std::shared_ptr<const KeptReply>;

  struct Slot {
    std::weak_ptr<const KeptReply> kept;
    std::shared_ptr<Making> leader;                // others may wait for it
    std::vector<std::shared_ptr<Making>> makings;  // all, the leader among them
  };
  using Slots = std::map<std::string, Slot, std::less<>>;

  void AddMaking(Slots::iterator slot) TURTLE_REQUIRES(mutex_);
  void EraseIfEmpty(Slots::iterator slot) TURTLE_REQUIRES(mutex_);
  void Forget(const std::string& key) noexcept;

  Mutex mutex_;
  // Ordered, so that the variants of a target come after it.
  Slots slots_ TURTLE_GUARDED_BY(mutex_);
};

}  // namespace TURTLE_SERVER
