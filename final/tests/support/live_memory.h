// Counts the bytes that are allocated and not freed yet. It replaces operator new of the whole
// program, so a test that includes this is its own program.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

namespace TURTLE_SERVER::test {

/// The bytes that the calling thread has allocated, less those that it has freed. Only a difference
/// has a meaning: a thread may free the block of another one.
inline thread_local std::ptrdiff_t live_bytes = 0;

/// Each block has its size in front of it, since not every delete is told. This many bytes keep the
/// block aligned.
constexpr std::size_t kSizeBytes = alignof(std::max_align_t);
static_assert(kSizeBytes >= sizeof(std::size_t));

inline auto CountedNew(std::size_t size) noexcept -> void* {
  void* const memory =
      size <= static_cast<std::size_t>(-1) - kSizeBytes ? std::malloc(kSizeBytes + size) : nullptr;
  if (memory == nullptr) {
    return nullptr;
  }
  live_bytes += static_cast<std::ptrdiff_t>(size);
  *static_cast<std::size_t*>(memory) = size;
  return static_cast<char*>(memory) + kSizeBytes;
}

// If gcc saw free(3) in the place of a delete, it would warn that operator new returned another
// address.
[[gnu::noinline]] inline void CountedDelete(void* block) noexcept {
  if (block == nullptr) {
    return;
  }
  void* const memory = static_cast<char*>(block) - kSizeBytes;
  live_bytes -= static_cast<std::ptrdiff_t>(*static_cast<std::size_t*>(memory));
  std::free(memory);
}

}  // namespace TURTLE_SERVER::test

auto operator new(std::size_t size, const std::nothrow_t&) noexcept -> void* {
  return TURTLE_SERVER::test::CountedNew(size);
}

auto operator new(std::size_t size) -> void* {
  if (void* block = TURTLE_SERVER::test::CountedNew(size)) {
    return block;
  }
  throw std::bad_alloc();
}

void operator delete(void* block) noexcept { TURTLE_SERVER::test::CountedDelete(block); }
void operator delete(void* block, std::size_t) noexcept {
  TURTLE_SERVER::test::CountedDelete(block);
}
void operator delete(void* block, const std::nothrow_t&) noexcept {
  TURTLE_SERVER::test::CountedDelete(block);
}
