#include "response_cache/reply_table.h"

#include <algorithm>
#include <utility>

namespace TURTLE_SERVER {

// A pointer to a response may be the last one, and its release locks the table. So pointers taken
// here are declared before the lock, and destroyed after it.

auto ReplyTable::Find(std::string_view key, TimePoint now) -> Kept {
  Kept kept;
  const MutexLock lock(mutex_);
  const auto slot = slots_.find(key);
  if (slot != slots_.end()) {
    kept = slot->second.kept.lock();
  }
  return kept && kept->IsFresh(now) ? kept : nullptr;
}

auto ReplyTable::Join(const std::string& key, TimePoint now, ReplyWaiters& waiters) -> Joined {
  Kept kept;
  const MutexLock lock(mutex_);
  const auto slot = slots_.try_emplace(key).first;
  kept = slot->second.kept.lock();
  if (kept && kept->IsFresh(now)) {
    return {};
  }
  if (!slot->second.leader) {
    AddMaking(slot);
    slot->second.leader = slot->second.makings.back();
    return {slot->second.leader, true};
  }
  std::vector<ReplyWaiters*>& all = slot->second.leader->waiters_;
  if (std::find(all.begin(), all.end(), &waiters) == all.end()) {
    all.push_back(&waiters);
  }
  return {slot->second.leader, false};
}

auto ReplyTable::Begin(const std::string& key) -> std::shared_ptr<Making> {
  const MutexLock lock(mutex_);
  const auto slot = slots_.try_emplace(key).first;
  AddMaking(slot);
  return slot->second.makings.back();
}

void ReplyTable::AddMaking(Slots::iterator slot) {
  try {
    slot->second.makings.push_back(std::make_shared<Making>(slot->first));
  } catch (...) {
    EraseIfEmpty(slot);
    throw;
  }
}

auto ReplyTable::Keep(const Making& making, std::unique_ptr<KeptReply> kept) -> Kept {
  Kept older;
  Kept shared(kept.release(), [table = weak_from_this()](const KeptReply* gone) {
    const std::unique_ptr<const KeptReply> owner(gone);
    if (const std::shared_ptr<ReplyTable> alive = table.lock()) {
      alive->Forget(gone->Key());
    }
  });
  const MutexLock lock(mutex_);
  if (making.dropped_) {
    return nullptr;
  }
  Slot& slot = slots_.try_emplace(shared->Key()).first->second;
  older = slot.kept.lock();
  if (older) {
    older->Drop();
  }
  slot.kept = shared;
  return shared;
}

auto ReplyTable::End(const Making& making) noexcept -> std::vector<ReplyWaiters*> {
  std::shared_ptr<Making> ended;
  const MutexLock lock(mutex_);
  const auto slot = slots_.find(making.key_);
  if (slot == slots_.end()) {
    return {};
  }
  std::vector<std::shared_ptr<Making>>& all = slot->second.makings;
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.get() == &making; });
  if (found != all.end()) {
    ended = std::move(*found);
    ended->over_.store(true, std::memory_order_release);
    all.erase(found);
  }
  if (slot->second.leader == ended) {
    slot->second.leader.reset();
  }
  EraseIfEmpty(slot);
  return ended ? std::move(ended->waiters_) : std::vector<ReplyWaiters*>();
}

void ReplyTable::Drop(std::string_view key) {
  std::vector<Kept> wrong;
  Kept kept;
  const MutexLock lock(mutex_);
  // A line end sorts before every continuation of a longer target.
  for (auto slot = slots_.lower_bound(key); slot != slots_.end(); ++slot) {
    const std::string_view found = slot->first;
    const bool variant = found.substr(0, key.size()) == key && found.size() > key.size() &&
                         found[key.size()] == '\n';
    if (found != key && !variant) {
      break;
    }
    kept = slot->second.kept.lock();
    if (kept) {
      kept->Drop();
      wrong.push_back(std::move(kept));
    }
    for (const std::shared_ptr<Making>& making : slot->second.makings) {
      making->dropped_ = true;
    }
    slot->second.leader.reset();  // the waiting requests came earlier; no others may join them
  }
}

auto ReplyTable::Size() -> std::size_t {
  const MutexLock lock(mutex_);
  return slots_.size();
}

void ReplyTable::EraseIfEmpty(Slots::iterator slot) {
  if (slot->second.kept.expired() && slot->second.makings.empty()) {
    slots_.erase(slot);
  }
}

void ReplyTable::Forget(const std::string& key) noexcept {
  const MutexLock lock(mutex_);
  const auto slot = slots_.find(key);
  if (slot != slots_.end()) {
    EraseIfEmpty(slot);
  }
}

}  // namespace TURTLE_SERVER
