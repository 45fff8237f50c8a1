// A cache bounded in bytes: the least recently used entry makes room.
//
// Interface:
//  * Find() looks up and makes the entry the youngest; Insert() adds or replaces one.
//  * Erase(), EraseIf(), Clear() take entries out.
//  * ForEach() visits all without changing the order; Stats() returns the statistics so far.
//
// Each entry is one node, linked into its bucket's chain and into one list by age. So each
// operation takes constant time, and values stay in place until they are taken out. A std::list
// with a std::unordered_map into it needs two nodes per entry, and takes about twice as long:
// chapter 15 has the numbers.
//
// Thread: no locks. One owner, one thread: each loop has a cache with its share of the budget, so
// that a hit touches no memory that another core writes to.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/keyed_hash.h"

namespace TURTLE_SERVER {

/// The statistics of a cache since it was made, and its present size.
struct LruStats {
  std::uint64_t hits = 0;       ///< Calls of Find() with a result.
  std::uint64_t misses = 0;     ///< Calls of Find() without one.
  std::uint64_t evictions = 0;  ///< Entries that had to make room; not those erased or replaced.
  std::size_t bytes = 0;        ///< Weight of all entries, overhead included.
  std::size_t entries = 0;      ///< Number of entries.
};

/// A map from keys to values that drops the least recently used entries.
///
/// @tparam Key the type of the keys. Find() accepts every type that Hash and Equal accept.
/// @tparam Value kept in place until it is taken out. Its destructor must not call the cache.
/// @tparam Hash gives equal hashes to equal keys of all types that Find() is called with.
/// @tparam Equal compares a Key with the argument of Find().
template <class Key, class Value, class Hash = KeyedHash, class Equal = std::equal_to<>>
class LruCache {
 public:
  /// Makes an empty cache.
  /// @param max_bytes the limit of the sum of all weights, overhead included.
  /// @param max_entry_bytes the limit of a single weight, overhead included: without it one large
  ///        entry pushes out a thousand small ones.
  /// @param hash the hash object.
  LruCache(std::size_t max_bytes, std::size_t max_entry_bytes, Hash hash = Hash())
      : max_bytes_(max_bytes),
        max_entry_bytes_(std::min(max_entry_bytes, max_bytes)),
        hash_(std::move(hash)) {}

  LruCache(const LruCache&) = delete;                     ///< Not copied.
  auto operator=(const LruCache&) -> LruCache& = delete;  ///< Not copied.
  ~LruCache() { Clear(); }                                ///< Destroys all values.

  /// Returns the cost of one entry besides its own weight: the node, its place in the table and
  /// what an allocator adds. It is an upper estimate for common systems.
  [[nodiscard]] static constexpr auto OverheadBytes() noexcept -> std::size_t {
    return sizeof(Node) + 2 * sizeof(void*) + kAllocatorBytes;
  }

  /// Looks up and counts a hit or a miss. A hit becomes the youngest entry. Allocates nothing.
  /// @param key a Key, or comparable with one, such as a std::string_view with a std::string.
  /// @return the value, valid until its entry is taken out; nullptr: not there.
  template <class Query>
  [[nodiscard]] auto Find(const Query& key) -> Value* {
    // The youngest entry is the likeliest to be looked up next: that needs no hash.
    if (youngest_ != nullptr && Equal()(youngest_->key, key)) {
      ++stats_.hits;
      return &youngest_->value;
    }
    Node* const node = FindNode(key, hash_(key));
    if (node == nullptr) {
      ++stats_.misses;
      return nullptr;
    }
    ++stats_.hits;
    Unlink(*node);
    LinkAsYoungest(*node);
    return &node->value;
  }

  /// Adds an entry as the youngest, replacing one with the same key. The oldest of the others make
  /// room for it.
  /// @param key the key, owned by the cache from now on.
  /// @param value the value, likewise.
  /// @param weight the bytes that key and value occupy besides OverheadBytes().
  /// @return the value in its place; nullptr if weight and overhead exceed the limit of an entry:
  ///         then nothing is added, and an older entry with the same key is gone all the same.
  auto Insert(Key key, Value value, std::size_t weight) -> Value* {
    Erase(key);
    if (max_entry_bytes_ < OverheadBytes() || weight > max_entry_bytes_ - OverheadBytes()) {
      return nullptr;
    }
    const std::size_t bytes = weight + OverheadBytes();
    while (stats_.bytes > max_bytes_ - bytes) {
      ++stats_.evictions;
      Remove(*oldest_);
    }
    GrowIfFull();
    const std::uint64_t hash = hash_(key);
    auto node = std::make_unique<Node>(Node{std::move(key), std::move(value), bytes, hash});
    Node*& bucket = BucketOf(hash);
    node->next_in_bucket = bucket;
    bucket = node.get();
    LinkAsYoungest(*node);
    ++stats_.entries;
    stats_.bytes += bytes;
    return &node.release()->value;  // owned by the chain of its bucket from here on
  }

  /// Takes an entry out.
  /// @param key the key, as for Find().
  /// @return false if there was none.
  template <class Query>
  auto Erase(const Query& key) -> bool {
    Node* const node = FindNode(key, hash_(key));
    if (node == nullptr) {
      return false;
    }
    Remove(*node);
    return true;
  }

  /// Takes out all entries for which `condition(const Key&, const Value&)` is true.
  /// @param condition called once per entry, youngest first; must not call the cache.
  /// @return how many entries were taken out.
  template <class Condition>
  auto EraseIf(Condition condition) -> std::size_t {
    std::size_t count = 0;
    for (Node* node = youngest_; node != nullptr;) {
      Node* const next = node->older;
      if (condition(std::as_const(node->key), std::as_const(node->value))) {
        Remove(*node);
        ++count;
      }
      node = next;
    }
    return count;
  }

  /// Takes out everything; the counts of hits, misses and evictions are kept.
  void Clear() {
    while (oldest_ != nullptr) {
      Remove(*oldest_);
    }
  }

  /// Calls `visit(const Key&, Value&)` for each entry, youngest first. Counts nothing and keeps the
  /// order.
  /// @param visit the function; it must not call the cache.
  template <class Visit>
  void ForEach(Visit visit) {
    for (Node* node = youngest_; node != nullptr; node = node->older) {
      visit(std::as_const(node->key), node->value);
    }
  }

  /// Returns the counters and sizes.
  [[nodiscard]] auto Stats() const noexcept -> const LruStats& { return stats_; }

 private:
  static constexpr std::size_t kAllocatorBytes = 16;
  static constexpr std::size_t kFirstBuckets = 16;

  struct Node {
    Key key;
    Value value;
    std::size_t bytes;
    std::uint64_t hash;  // used again when the table grows
    Node* next_in_bucket = nullptr;
    Node* younger = nullptr;
    Node* older = nullptr;
  };

  // The number of buckets is a power of two, so its lowest bits choose one.
  auto BucketOf(std::uint64_t hash) -> Node*& {
    return buckets_[static_cast<std::size_t>(hash) & (buckets_.size() - 1)];
  }

  template <class Query>
  auto FindNode(const Query& key, std::uint64_t hash) -> Node* {
    if (buckets_.empty()) {
      return nullptr;
    }
    Node* node = BucketOf(hash);
    while (node != nullptr && !(node->hash == hash && Equal()(node->key, key))) {
      node = node->next_in_bucket;
    }
    return node;
  }

  // On average there is at most one node per bucket. The nodes themselves stay where they are.
  void GrowIfFull() {
    if (stats_.entries < buckets_.size()) {
      return;
    }
    buckets_.assign(std::max(kFirstBuckets, 2 * buckets_.size()), nullptr);
    for (Node* node = oldest_; node != nullptr; node = node->younger) {
      Node*& bucket = BucketOf(node->hash);
      node->next_in_bucket = bucket;
      bucket = node;
    }
  }

  void LinkAsYoungest(Node& node) {
    node.younger = nullptr;
    node.older = youngest_;
    (youngest_ != nullptr ? youngest_->younger : oldest_) = &node;
    youngest_ = &node;
  }

  void Unlink(Node& node) {
    (node.younger != nullptr ? node.younger->older : youngest_) = node.older;
    (node.older != nullptr ? node.older->younger : oldest_) = node.younger;
  }

  void Remove(Node& node) {
    Node** link = &BucketOf(node.hash);
    while (*link != &node) {
      link = &(*link)->next_in_bucket;
    }
    *link = node.next_in_bucket;
    Unlink(node);
    --stats_.entries;
    stats_.bytes -= node.bytes;
    const std::unique_ptr<Node> owner(&node);
  }

  const std::size_t max_bytes_;
  const std::size_t max_entry_bytes_;
  const Hash hash_;
  std::vector<Node*> buckets_;  // each the head of a chain that owns its nodes
  Node* youngest_ = nullptr;
  Node* oldest_ = nullptr;
  LruStats stats_;
};

}  // namespace TURTLE_SERVER
