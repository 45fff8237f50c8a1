// Runs a task again and again.
//
// Thread: the loop's.
#pragma once

#include "base/clock.h"
#include "core/looper.h"
#include "core/timer_queue.h"

namespace TURTLE_SERVER {

/// Runs a task at regular intervals, for as long as the object lives.
class Repeating {
 public:
  /// The first run is one period after the loop's Now(), each further one a period after that.
  ///
  /// @param looper outlives this object
  /// @param period more than zero
  /// @param task if it throws, the loop logs that, and it runs again the next time. It may destroy
  ///     the object.
  /// @throws std::invalid_argument, "a period has to be more than zero"
  Repeating(Looper& looper, Clock::duration period, Task task);

  Repeating(const Repeating&) = delete;
  auto operator=(const Repeating&) -> Repeating& = delete;

  /// Stops the runs.
  ~Repeating();

 private:
  Looper& looper_;
  TimerId timer_;
};

}  // namespace TURTLE_SERVER
