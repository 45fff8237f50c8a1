// The memory of one Brotli encoder.
//
// A libbrotli that gets no memory may call exit(3): Debian's does. So a request for memory that
// fails jumps out of the library, by longjmp(3). The library is C, and nothing on the way has a
// destructor. Its work is lost, but its memory isn't: all of it is known here.
//
// Interface:
//  * Try() calls the library.
//  * Allocate() and Free() are for BrotliEncoderCreateInstance(), with the object as `opaque`.
//
// Thread: one at a time.
// Source: https://www.brotli.org/encode.html; longjmp(3)
#pragma once

#include <csetjmp>
#include <cstddef>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Memory that a C library asks for. The blocks that are not freed before go with this object.
class BrotliMemory {
 public:
  BrotliMemory() = default;
  BrotliMemory(const BrotliMemory&) = delete;
  auto operator=(const BrotliMemory&) -> BrotliMemory& = delete;
  ~BrotliMemory();

  /// Calls `use()`. Only in it may the library ask for memory.
  /// @param use calls functions of the library, and has nothing to destroy when these are left
  /// @return false: there was no memory, and no object of the library may be used any more
  template <class Use>
  [[nodiscard]] auto Try(const Use& use) -> bool {
    if (setjmp(way_out_) != 0) {  // NOLINT(cert-err52-cpp): an exception can't pass through C
      return false;
    }
    use();
    return true;
  }

  /// Returns memory; does not return if there is none.
  /// @param memory the BrotliMemory
  /// @param size in bytes
  static auto Allocate(void* memory, std::size_t size) -> void*;

  /// Frees memory.
  /// @param memory the BrotliMemory
  /// @param bytes what Allocate() has returned, or nullptr
  static void Free(void* memory, void* bytes);

 private:
  // Precedes the bytes of each allocation.
  struct alignas(std::max_align_t) Block {
    Block* previous;
    Block* next;
  };

  Block* first_ = nullptr;
  std::jmp_buf way_out_{};
};

}  // namespace TURTLE_SERVER
