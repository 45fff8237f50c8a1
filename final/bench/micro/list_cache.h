// LruCache in its obvious form: a std::list by age, and a std::unordered_map into it.
//
// It exists to be measured, so it only has the measured functions.
//
// Thread: none of its own, as LruCache.
#pragma once

#include <cstddef>
#include <iterator>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/keyed_hash.h"
#include "base/namespace.h"

namespace TURTLE_SERVER::bench {

/// Entries in std::list; their keys, as views, in std::unordered_map.
class ListCache {
 public:
  ListCache(std::size_t max_bytes, std::size_t /*max_entry_bytes*/) : max_bytes_(max_bytes) {}

  /// The cost of an entry besides its weight, on a 64-bit system.
  [[nodiscard]] static constexpr auto OverheadBytes() noexcept -> std::size_t {
    return sizeof(Entry) + sizeof(std::pair<std::string_view, void*>) + 7 * sizeof(void*);
  }

  /// Does the same as LruCache::Find().
  [[nodiscard]] auto Find(std::string_view key) -> int* {
    if (!list_.empty() && list_.front().key == key) {
      return &list_.front().value;
    }
    const auto found = table_.find(key);
    if (found == table_.end()) {
      return nullptr;
    }
    list_.splice(list_.begin(), list_, found->second);
    return &found->second->value;
  }

  /// Does the same as LruCache::Insert().
  auto Insert(std::string key, int value, std::size_t weight) -> int* {
    if (const auto old = table_.find(key); old != table_.end()) {
      Remove(old->second);
    }
    const std::size_t bytes = weight + OverheadBytes();
    while (bytes_ > max_bytes_ - bytes) {
      Remove(std::prev(list_.end()));
    }
    list_.push_front({std::move(key), value, bytes});
    table_.emplace(list_.front().key, list_.begin());
    bytes_ += bytes;
    return &list_.front().value;
  }

 private:
  struct Entry {
    std::string key;
    int value;
    std::size_t bytes;
  };
  using Entries = std::list<Entry>;

  // libstdc++ keeps a hash with its entry, as LruCache does, only if hashing is said to be slow: if
  // it may throw.
  struct Hash {
    auto operator()(std::string_view key) const -> std::size_t { return keyed(key); }
    KeyedHash keyed;
  };

  // The table first: its key is a view into the entry.
  void Remove(Entries::iterator entry) {
    bytes_ -= entry->bytes;
    table_.erase(entry->key);
    list_.erase(entry);
  }

  const std::size_t max_bytes_;
  std::size_t bytes_ = 0;
  Entries list_;  // youngest first
  std::unordered_map<std::string_view, Entries::iterator, Hash> table_;
};

}  // namespace TURTLE_SERVER::bench
