// Blocks of memory for output, kept for reuse by each thread.
//
// Interface:
//  * Take() returns a block of kBlockBytes, if possible the one given back last, which is still in
//    the processor's cache.
//  * Give() takes a block back and keeps at most kMaxKept; the rest goes to the allocator, so that
//    one burst does not set the size of the process forever.
//
// A connection borrows blocks only while it has something to send. So the memory of a loop's output
// is what its busy connections need now, not what each of them once needed.
//
// Thread: any; every thread has its own pool, without a lock. One thread may take a block and
// another may give it back.
#pragma once

#include <cstddef>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// The calling thread's pool of blocks.
class BlockPool {
 public:
  /// The size of every block.
  static constexpr std::size_t kBlockBytes = std::size_t{16} * 1024;
  /// The most free blocks that a thread keeps: 1 MiB.
  static constexpr std::size_t kMaxKept = 64;

  BlockPool() = delete;

  /// Returns kBlockBytes of uninitialised memory, aligned for any type. Throws std::bad_alloc.
  [[nodiscard]] static auto Take() -> void*;

  /// Takes back a block that Take() returned.
  static void Give(void* block) noexcept;

  /// Returns how many free blocks the calling thread keeps.
  [[nodiscard]] static auto Kept() noexcept -> std::size_t;
};

}  // namespace TURTLE_SERVER
