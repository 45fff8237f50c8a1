// Runs a task in the loop's next round.
//
// Interface:
//  * Request() makes it run in the next round, once, however often it is called.
//
// Thread: the loop's.
#pragma once

#include <utility>

#include "base/clock.h"
#include "core/looper.h"

namespace TURTLE_SERVER {

/// Runs at the beginning of a round, after the events with which the round began, if requested.
class RoundTask {
 public:
  /// @param looper outlives this object, and no longer runs when it is destroyed
  /// @param task runs on the loop's thread
  RoundTask(Looper& looper, Task task) : looper_(looper), task_(std::move(task)) {}

  RoundTask(const RoundTask&) = delete;
  auto operator=(const RoundTask&) -> RoundTask& = delete;

  /// Runs the task in the next round; the loop does not sleep before. Throws std::bad_alloc.
  void Request() {
    if (!std::exchange(requested_, true)) {
      looper_.RunAfter(Clock::duration::zero(), [this] {
        requested_ = false;
        task_();
      });
    }
  }

 private:
  Looper& looper_;
  const Task task_;
  bool requested_ = false;
};

}  // namespace TURTLE_SERVER
