// Keeps memory for a time when there is none.
//
// A destructor must not throw, but some allocate memory: nlohmann's Json keeps a list of values yet
// to be destroyed. Without memory that calls std::terminate(), and the server ends only because it
// read a file again. So code that uses such a class while there are clients also has a
// MemoryReserve: an allocation that fails gets a part of it.
//
// Thread: its owner's, the only one that it serves.
#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Memory for allocations of its thread that would otherwise fail, as long as it lasts. Each thread
/// may have one at a time.
class MemoryReserve {
 public:
  /// Throws std::bad_alloc if there already is too little memory. The first object permanently
  /// installs a std::new_handler, in place of any other.
  MemoryReserve();

  ~MemoryReserve();

  MemoryReserve(const MemoryReserve&) = delete;
  auto operator=(const MemoryReserve&) -> MemoryReserve& = delete;

 private:
  // Several parts, for several allocations in a row. Each is small enough to stay with its thread;
  // malloc(3) would return a large one to the kernel.
  static constexpr std::size_t kParts = 8;
  static constexpr std::size_t kPartBytes = std::size_t{16} << 10;

  static void LetGo();

  static thread_local MemoryReserve* mine;

  std::array<std::unique_ptr<char[]>, kParts> parts_;
};

}  // namespace TURTLE_SERVER
