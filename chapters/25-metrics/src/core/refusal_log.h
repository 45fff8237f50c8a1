// Tells the log of clients above the limit: a line a second for each loop, however many they are.
//
// A line for each would let refused clients write the log. So they are counted, and the first of
// them starts a timer that reports all.
//
// Thread: the loop's, but for Total().
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/counter.h"
#include "core/looper.h"

namespace TURTLE_SERVER {

/// The refused clients of one loop.
class alignas(kCacheLine) RefusalLog {
 public:
  /// One more was refused. The log hears of it within a second.
  /// @param looper the loop, always the same; this object must outlive it
  /// @param limit how many clients it may have
  void Count(Looper& looper, std::size_t limit);

  /// Tells the log now, if there is anything to tell.
  void Tell() noexcept;

  /// How many there were so far. Any thread.
  [[nodiscard]] auto Total() const noexcept -> std::uint64_t { return total_; }

 private:
  Counter total_;
  std::size_t untold_ = 0;
  std::size_t limit_ = 0;  // when the last one was refused
  bool awaits_timer_ = false;
};

}  // namespace TURTLE_SERVER
