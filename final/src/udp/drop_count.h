// How many datagrams the kernel has dropped, from its count, which wraps around after 2^32.
//
// The kernel tells its count in two ways: with a datagram, as it was when that one came in, and
// when it is asked. So what was told may be older than what is known.
//
// Thread: one at a time for each object.
#pragma once

#include <cstdint>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Adds up what a count of 32 bits goes on by.
class DropCount {
 public:
  /// Notes what the kernel has told. Older news change nothing.
  void Note(std::uint32_t kernel_count) noexcept {
    const std::uint32_t more = kernel_count - newest_;  // right across the end of 32 bits, too
    if (more < 0x80000000U) {                           // else it is from before
      total_ += more;
      newest_ = kernel_count;
    }
  }

  /// Returns all of them.
  [[nodiscard]] auto Total() const noexcept -> std::uint64_t { return total_; }

 private:
  std::uint32_t newest_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace TURTLE_SERVER
