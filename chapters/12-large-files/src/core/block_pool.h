// Blocks of memory for output, kept for reuse by each thread.
//
// Interface:
//  * Take() gives a block of kBlockBytes, the one given back last if there is any: it is the one
//    that is still in the processor's cache.
//  * Give() takes it back and keeps at most kMaxKept of them; the rest goes to the allocator, so
//    that one burst does not become the size of the process for ever.
//
// A connection borrows blocks only while it has something to send. The memory of a loop's output
// is then what its busy connections need now, not what each of them once needed.
//
// Thread: any; every thread has its own pool, without a lock. A block may be given back on another
// thread than the one that took it.
#pragma once

#include <cstddef>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// The calling thread's pool of blocks.
class BlockPool {
 public:
  /// The size of every block.
  static constexpr std::size_t kBlockBytes = std::size_t{16} * 1024;
  /// How many free blocks a thread keeps: 1 MiB.
  static constexpr std::size_t kMaxKept = 64;

  BlockPool() = delete;

  /// kBlockBytes of uninitialised memory, aligned for any type. Throws std::bad_alloc.
  [[nodiscard]] static auto Take() -> void*;

  /// Takes back what Take() gave.
  static void Give(void* block) noexcept;

  /// How many free blocks the calling thread keeps.
  [[nodiscard]] static auto Kept() noexcept -> std::size_t;
};

}  // namespace TURTLE_SERVER
