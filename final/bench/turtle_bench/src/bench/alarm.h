// Wakes a loop at an exact time.
//
// The loop's timers are good to a millisecond, which is what deadlines need. A request that is due
// now must not leave a millisecond late: that would be counted as the server's latency.
//
// Interface:
//  * Set() sets when the task runs next.
//
// Thread: the loop's, or before it runs.
#pragma once

#include "base/clock.h"
#include "base/unique_fd.h"
#include "core/looper.h"

namespace TURTLE_SERVER {

/// A timer of one loop, exact to microseconds if the kernel has timers that can be watched (timerfd
/// on Linux), otherwise to milliseconds.
class Alarm {
 public:
  /// Throws std::system_error if the process is out of descriptors.
  /// @param looper outlives this object
  /// @param task runs on the loop's thread each time that the alarm goes off
  Alarm(Looper& looper, Task task);

  Alarm(const Alarm&) = delete;
  auto operator=(const Alarm&) -> Alarm& = delete;
  ~Alarm();

  /// Goes off at `when`, or at once if that has passed; replaces the earlier time.
  void Set(TimePoint when);

 private:
  Looper& looper_;
  const Task task_;
  UniqueFd timer_;                    // where it can be watched
  [[maybe_unused]] WatchId watch_{};  // of timer_
  TimerId id_{};                      // elsewhere
};

}  // namespace TURTLE_SERVER
