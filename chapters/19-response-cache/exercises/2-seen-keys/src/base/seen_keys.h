// Which keys were seen lately, in a memory that doesn't grow: two Bloom filters that take turns.
//
// A cache that keeps only responses that were asked for twice is not emptied by a client that asks
// for ?1, ?2, ?3 and so on.
//
// Thread: one at a time.
#pragma once

#include <cstddef>
#include <string_view>

namespace TURTLE_SERVER {

/// The keys that were seen lately, and a few that were not.
class SeenKeys {
 public:
  /// @param capacity so many keys, the last ones, are always remembered; at least 1
  /// @throws std::invalid_argument "0 keys: at least 1"
  explicit SeenKeys(std::size_t capacity);

  /// Notes a key. Allocates nothing.
  /// @return true if it was noted lately. Always true for one of the last `capacity` different
  ///     keys; false, but for 2 in 100, for a key that is new or older than 2 * capacity other keys
  auto Note(std::string_view key) -> bool;

  /// The memory that the object has allocated, in bytes: at most 4 * capacity + 128.
  [[nodiscard]] auto Bytes() const noexcept -> std::size_t;
};

}  // namespace TURTLE_SERVER
