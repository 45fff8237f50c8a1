// Remembers names that are requested again and again although no such file exists.
//
// Interface:
//  * Note() remembers that a name has no file, if the kernel will report a change.
//  * IsMissing() only looks at the memory.
//
// Thread: the loop's.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/lru_cache.h"
#include "core/looper.h"

namespace TURTLE_SERVER {

/// The names that do not exist beneath one root.
class MissingFiles {
 public:
  /// @param looper outlives this object
  /// @param root the open root directory, borrowed for as long as this object lives
  /// @param max_bytes of all names together, including bookkeeping
  MissingFiles(Looper& looper, int root, std::size_t max_bytes);

  /// Returns true if it is known that there is no file `name`, relative to the root.
  [[nodiscard]] auto IsMissing(std::string_view name) -> bool;

  /// Remembers that there is no file `name`, unless there is one, or its creation would not be
  /// reported.
  void Note(const std::string& name);

  /// Returns hits, misses and sizes.
  [[nodiscard]] auto Stats() const noexcept -> LruStats;
};

}  // namespace TURTLE_SERVER
