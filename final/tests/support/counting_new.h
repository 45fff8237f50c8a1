// Counts calls of operator new. It replaces that operator in the whole program, so a test that
// includes this is its own program.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace TURTLE_SERVER::test {

/// The calls on threads that count. Any thread.
inline std::atomic<std::size_t> allocations{0};

/// Whether the calling thread counts. Initially none does.
inline thread_local bool counts_allocations = false;

inline auto CountedAllocate(std::size_t size) noexcept -> void* {
  if (counts_allocations) {
    ++allocations;
  }
  return std::malloc(size == 0 ? 1 : size);
}

}  // namespace TURTLE_SERVER::test

auto operator new(std::size_t size, const std::nothrow_t&) noexcept -> void* {
  return TURTLE_SERVER::test::CountedAllocate(size);
}

auto operator new(std::size_t size) -> void* {
  if (void* memory = TURTLE_SERVER::test::CountedAllocate(size)) {
    return memory;
  }
  throw std::bad_alloc();
}

// gcc takes the inlined free(3) for a mismatch with the operator above, which it does not inline.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
