// A queue of tasks that other threads post to a loop.
//
// Interface:
//  * Post() queues a task and wakes the loop; it returns false if the loop has ended.
//  * The loop watches GetWakeup() and runs the tasks that TakeAll() returns.
//  * Close() refuses later posts, and returns the accepted tasks so that they can be run.
//
// A loop shares its mailbox with its posters, because a poster may outlive the loop: it then still
// has a mailbox, which refuses.
//
// Thread: Post() from any; the rest is the loop's.
#pragma once

#include <functional>
#include <vector>

#include "base/mutex.h"
#include "core/wakeup.h"

namespace TURTLE_SERVER {

/// A task that runs once.
using Task = std::function<void()>;

/// A queue of tasks for one loop.
class Mailbox {
 public:
  /// Queues `task` for the loop. Tasks of one thread run in the order in which they were posted.
  /// @return false: the loop has ended, `task` was destroyed and will not run.
  [[nodiscard]] auto Post(Task task) -> bool;

  /// Returns all tasks queued so far, oldest first.
  [[nodiscard]] auto TakeAll() -> std::vector<Task>;

  /// Refuses posts from now on. @return the tasks that were accepted before.
  [[nodiscard]] auto Close() -> std::vector<Task>;

  /// Returns the wake-up that the loop watches.
  [[nodiscard]] auto GetWakeup() noexcept -> Wakeup& { return wakeup_; }

 private:
  Wakeup wakeup_;  // const after construction
  Mutex mutex_;
  std::vector<Task> tasks_ TURTLE_GUARDED_BY(mutex_);
  bool closed_ TURTLE_GUARDED_BY(mutex_) = false;
};

}  // namespace TURTLE_SERVER
