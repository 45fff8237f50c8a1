// Logs clients above the limit: one line per second and loop, however many there are.
//
// With a line for each, refused clients could flood the log. So they are counted, and the first of
// them starts a timer that reports the total.
//
// Thread: the loop's.
#pragma once

#include <cstddef>

#include "core/looper.h"

namespace TURTLE_SERVER {

/// The refused clients of one loop.
class RefusalLog {
 public:
  /// Counts one more refused client. It is logged within a second.
  /// @param looper the loop, always the same; this object must outlive it
  /// @param limit the most clients that it may have
  void Count(Looper& looper, std::size_t limit);

  /// Logs the count now, if it is not zero.
  void Tell() noexcept;

 private:
  std::size_t untold_ = 0;
  std::size_t limit_ = 0;  // when the last client was refused
  bool awaits_timer_ = false;
};

}  // namespace TURTLE_SERVER
