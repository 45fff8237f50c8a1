#include "core/block_pool.h"

#include <new>

namespace TURTLE_SERVER {

namespace {

// A free block holds the link to the next one in its first bytes.
struct Link {
  Link* next;
};

// Trivially destructible on purpose: a connection in a static object gives its blocks back after
// the thread-local objects of the main thread have been destroyed.
struct FreeList {
  Link* first;
  std::size_t kept;
  bool ended;
};

thread_local FreeList free_list;

// Empties the list when its thread ends; after that, blocks go straight to the allocator.
struct FreeAtExit {
  ~FreeAtExit() {
    while (free_list.first != nullptr) {
      Link* const block = free_list.first;
      free_list.first = block->next;
      ::operator delete(block);
    }
    free_list.kept = 0;
    free_list.ended = true;
  }
  // Naming the object makes the thread construct it.
  void Arm() const noexcept {}
};

thread_local FreeAtExit free_at_exit;

}  // namespace

auto BlockPool::Take() -> void* {
  Link* const block = free_list.first;
  if (block == nullptr) {
    return ::operator new(kBlockBytes);
  }
  free_list.first = block->next;
  --free_list.kept;
  return block;
}

void BlockPool::Give(void* block) noexcept {
  if (free_list.ended || free_list.kept == kMaxKept) {
    ::operator delete(block);
    return;
  }
  free_at_exit.Arm();
  free_list.first = new (block) Link{free_list.first};
  ++free_list.kept;
}

auto BlockPool::Kept() noexcept -> std::size_t { return free_list.kept; }

}  // namespace TURTLE_SERVER
