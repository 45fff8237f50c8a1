// Remembers recently seen keys in constant memory: two Bloom filters that take turns.
//
// A cache that only stores responses requested twice is not emptied by a client that requests ?1,
// ?2, ?3 and so on.
//
// Thread: one at a time.
#pragma once

#include <cstddef>
#include <string_view>

namespace TURTLE_SERVER {

/// The recently seen keys, and a few false positives.
class SeenKeys {
 public:
  /// @param capacity how many of the last keys are always remembered; at least 1
  /// @throws std::invalid_argument "0 keys: at least 1"
  explicit SeenKeys(std::size_t capacity);

  /// Notes a key. Allocates nothing.
  /// @return true if it was noted recently. Always true for one of the last `capacity` different
  ///     keys; in 98 of 100 cases false for a key that is new or older than 2 * capacity other keys
  auto Note(std::string_view key) -> bool;

  /// Returns the memory that the object has allocated, in bytes: at most 4 * capacity + 128.
  [[nodiscard]] auto Bytes() const noexcept -> std::size_t;
};

}  // namespace TURTLE_SERVER
