// Names that are asked for again and again, and of which there is no file.
//
// Interface:
//  * Note() remembers that a name leads nowhere, if the kernel will tell when that changes.
//  * IsMissing() asks nobody but the memory.
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
  /// @param max_bytes of all names together, bookkeeping included
  MissingFiles(Looper& looper, int root, std::size_t max_bytes);

  /// True if there is no file `name`, relative to the root, and it is known without a look.
  [[nodiscard]] auto IsMissing(std::string_view name) -> bool;

  /// Remembers that there is no file `name`, unless there is one, or nobody would tell when it
  /// comes.
  void Note(const std::string& name);

  /// Hits, misses and sizes.
  [[nodiscard]] auto Stats() const noexcept -> LruStats;
};

}  // namespace TURTLE_SERVER
