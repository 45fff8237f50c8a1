// A cache that a crawler can't empty: entries used once are removed before those used twice.
//
// Interface: as LruCache. It has two lists by age. A new entry is on probation; found again, it
// becomes protected.
//
// Thread: as for LruCache.
#pragma once

#include <cstddef>
#include <utility>

#include "base/keyed_hash.h"
#include "base/lru_cache.h"

namespace TURTLE_SERVER {

/// Map from keys to values that first forgets entries used only once.
///
/// @tparam Key hashed by Hash and compared by ==
/// @tparam Value kept in place until its entry is removed: neither copied nor moved meanwhile
template <class Key, class Value, class Hash = KeyedHash>
class SegmentedCache {
 public:
  /// @param max_bytes limit of the sum of all weights
  /// @param max_protected_bytes limit of the protected part
  SegmentedCache(std::size_t max_bytes, std::size_t max_protected_bytes)
      : entries_(max_bytes + max_protected_bytes, max_bytes) {}  // TODO

  /// Adds an entry on probation, in place of one with the same key.
  /// @param weight the entry's total cost, which counts for the limits
  /// @return the value; nullptr if `weight` exceeds the limit: then nothing is added, and an entry
  ///     with the same key is removed even then
  auto Insert(Key key, Value value, std::size_t weight) -> Value* {
    return entries_.Insert(std::move(key), std::move(value), weight);  // TODO
  }

  /// Looks up, and counts a hit or a miss. A found entry is protected from then on.
  /// @return the value, valid until its entry is removed; nullptr if it is missing
  [[nodiscard]] auto Find(const Key& key) -> Value* { return entries_.Find(key); }  // TODO

  /// Removes an entry. @return false if there was none
  auto Erase(const Key& key) -> bool { return entries_.Erase(key); }  // TODO

  /// Returns counters, and the sizes of everything.
  [[nodiscard]] auto Stats() const noexcept -> const LruStats& { return entries_.Stats(); }

  /// Returns how many bytes are protected.
  [[nodiscard]] auto ProtectedBytes() const noexcept -> std::size_t { return 0; }  // TODO

 private:
  LruCache<Key, Value, Hash> entries_;
};

}  // namespace TURTLE_SERVER
