// Memory that is kept for when there is none.
//
// A destructor must not throw, and some ask for memory all the same: nlohmann's Json has a list of
// what it still has to take apart. Without memory that is std::terminate(), the end of a server
// only because it was to read a file once more. So code that uses such a class while there are
// clients has a MemoryReserve beside it: an allocation that fails gets a part of it.
//
// Thread: its owner's, whom alone it serves.
#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Memory for allocations of its thread that would fail otherwise, as long as it lasts. A thread
/// has one at a time.
class MemoryReserve {
 public:
  /// Throws std::bad_alloc if there is too little memory by now. The first of all of them installs
  /// a std::new_handler for good, in the place of any other.
  MemoryReserve();

  ~MemoryReserve();

  MemoryReserve(const MemoryReserve&) = delete;
  auto operator=(const MemoryReserve&) -> MemoryReserve& = delete;

 private:
  // Several, for several allocations in a row; each is small enough to be left to its thread, where
  // malloc(3) would give a large one back to the kernel.
  static constexpr std::size_t kParts = 8;
  static constexpr std::size_t kPartBytes = std::size_t{16} << 10;

  static void LetGo();

  static thread_local MemoryReserve* mine;

  std::array<std::unique_ptr<char[]>, kParts> parts_;
};

}  // namespace TURTLE_SERVER
