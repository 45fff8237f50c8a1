// Lists the stored responses of all loops, and those that are being made.
//
// A loop looks here only if it has not stored a response itself, so a hit never gets here. The
// table owns no response. The loops' caches do, and the last one to release a response removes it
// from the table. So the caches alone limit the memory.
//
// Interface:
//  * Find() returns a response that another loop has stored.
//  * Join() makes the first caller produce the response, and the others wait for it; Begin() starts
//    another one. End() ends either, and returns the waiting loops.
//  * Keep() stores a response in place of an older one; Drop() marks the responses to a target as
//    outdated.
//
// A response that was begun before a Drop() is not stored after it.
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
  /// @param key under which others look for it
  explicit Making(std::string key) : key_(std::move(key)) {}

  /// Returns the key under which others look for it.
  [[nodiscard]] auto Key() const noexcept -> const std::string& { return key_; }

  /// Returns true if it has ended, well or not.
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
  std::shared_ptr<Making> making;  ///< nullptr: a fresh response exists by now
  bool leads = false;              ///< the caller must make it
};

/// The table, shared by the loops of one server.
class ReplyTable : public std::enable_shared_from_this<ReplyTable> {
 public:
  /// Returns the fresh response stored under `key` at `now`, or nullptr.
  [[nodiscard]] auto Find(std::string_view key, TimePoint now) -> std::shared_ptr<const KeptReply>;

  /// Waits for the response being made under `key`, or begins to make it.
  /// @param key of the response
  /// @param now a stored response that is fresh then is sufficient
  /// @param waiters returned by End() among others, if another caller is making the response
  [[nodiscard]] auto Join(const std::string& key, TimePoint now, ReplyWaiters& waiters) -> Joined;

  /// Begins to make a response for which no request waits.
  [[nodiscard]] auto Begin(const std::string& key) -> std::shared_ptr<Making>;

  /// Stores the response for as long as the returned pointer is held.
  /// @return nullptr if it was dropped while it was made
  [[nodiscard]] auto Keep(const Making& making, std::unique_ptr<KeptReply> kept)
      -> std::shared_ptr<const KeptReply>;

  /// Ends what Join() or Begin() has begun. @return the loops that wait for it.
  [[nodiscard]] auto End(const Making& making) noexcept -> std::vector<ReplyWaiters*>;

  /// Marks all variants of the responses to one target as outdated.
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
