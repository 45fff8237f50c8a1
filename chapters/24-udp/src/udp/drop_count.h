// Counts the datagrams dropped by the kernel, whose own count wraps around after 2^32.
//
// The kernel reports its count in two ways: with a datagram, as of its arrival, and when it is
// asked. So a reported count may be older than the newest one.
//
// Thread: one at a time for each object.
#pragma once

#include <cstdint>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Adds up the increases of a 32-bit count.
class DropCount {
 public:
  /// Notes a count reported by the kernel. An older count changes nothing.
  void Note(std::uint32_t kernel_count) noexcept {
    const std::uint32_t more = kernel_count - newest_;  // correct even after a wrap
    if (more < 0x80000000U) {                           // else it is an older count
      total_ += more;
      newest_ = kernel_count;
    }
  }

  /// Returns the total.
  [[nodiscard]] auto Total() const noexcept -> std::uint64_t { return total_; }

 private:
  std::uint32_t newest_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace TURTLE_SERVER
