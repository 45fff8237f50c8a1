// An LruCache whose entries expire: an address that was looked up, a session.
//
// Thread: as for LruCache.
#pragma once

#include <cstddef>
#include <utility>

#include "base/clock.h"
#include "base/lru_cache.h"

namespace TURTLE_SERVER {

/// Map from keys to values that forgets expired entries, and the least recently used ones.
template <class Key, class Value>
class ExpiringCache {
 public:
  /// @param max_bytes limit of the sum of all weights, including overhead
  explicit ExpiringCache(std::size_t max_bytes) : entries_(max_bytes, max_bytes) {}

  /// Adds an entry, in place of one with the same key.
  /// @param weight bytes that key and value occupy, bookkeeping not counted
  /// @param until when it expires: at that time it is no longer valid
  /// @return false if it is larger than the cache; an entry with the same key is removed even then
  auto Insert(Key key, Value value, std::size_t weight, TimePoint /*until*/) -> bool {
    return entries_.Insert(std::move(key), std::move(value), weight) != nullptr;  // TODO
  }

  /// Looks up. An expired entry is removed, and is a miss.
  /// @param now the time
  /// @return the value, valid until the next call; nullptr if it is missing or expired
  template <class Query>
  [[nodiscard]] auto Find(const Query& key, TimePoint /*now*/) -> Value* {
    return entries_.Find(key);  // TODO
  }

  /// Removes all expired entries.
  /// @return how many there were
  auto Expire(TimePoint /*now*/) -> std::size_t { return 0; }  // TODO

  /// Returns counters and sizes. Every Find() is a hit or a miss.
  [[nodiscard]] auto Stats() const -> LruStats { return entries_.Stats(); }  // TODO

 private:
  LruCache<Key, Value> entries_;
};

}  // namespace TURTLE_SERVER
