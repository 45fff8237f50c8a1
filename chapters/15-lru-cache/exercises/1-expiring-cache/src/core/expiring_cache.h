// An LruCache whose entries are good for a while: an address that was looked up, a session.
//
// Thread: as LruCache.
#pragma once

#include <cstddef>
#include <utility>

#include "base/clock.h"
#include "base/lru_cache.h"

namespace TURTLE_SERVER {

/// Map from keys to values that forgets what is over, and the least recently used.
template <class Key, class Value>
class ExpiringCache {
 public:
  /// @param max_bytes limit of the sum of all weights, overhead included
  explicit ExpiringCache(std::size_t max_bytes) : entries_(max_bytes, max_bytes) {}

  /// Adds an entry, in place of one with the same key.
  /// @param weight bytes that key and value occupy, bookkeeping not counted
  /// @param until when it ends: at that time it is over
  /// @return false: it is larger than the cache; one with the same key is gone all the same
  auto Insert(Key key, Value value, std::size_t weight, TimePoint /*until*/) -> bool {
    return entries_.Insert(std::move(key), std::move(value), weight) != nullptr;  // TODO
  }

  /// Looks up. An entry whose time is over is taken out, and is a miss.
  /// @param now the time
  /// @return the value, valid until the next call; nullptr: not there, or not any more
  template <class Query>
  [[nodiscard]] auto Find(const Query& key, TimePoint /*now*/) -> Value* {
    return entries_.Find(key);  // TODO
  }

  /// Takes out all that is over.
  /// @return how many there were
  auto Expire(TimePoint /*now*/) -> std::size_t { return 0; }  // TODO

  /// Counters and sizes. Every Find() is a hit or a miss.
  [[nodiscard]] auto Stats() const -> LruStats { return entries_.Stats(); }  // TODO

 private:
  LruCache<Key, Value> entries_;
};

}  // namespace TURTLE_SERVER
