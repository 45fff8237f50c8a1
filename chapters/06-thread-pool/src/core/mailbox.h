// Tasks that other threads give to a loop.
//
// Interface:
//  * Post() leaves a task and wakes the loop; false when the loop has ended.
//  * The loop watches GetWakeup() and runs what TakeAll() gives it.
//  * Close() ends it: what was accepted before is given back to be run, later posts are refused.
//
// A loop shares its mailbox with its posters, because a poster may outlive the loop: it then still
// finds a mailbox, which refuses.
//
// Thread: Post() from any; the rest is the loop's.
#pragma once

#include <functional>
#include <vector>

#include "base/mutex.h"
#include "core/wakeup.h"

namespace TURTLE_SERVER {

/// Something to do, once.
using Task = std::function<void()>;

/// A queue of tasks for one loop.
class Mailbox {
 public:
  /// Leaves `task` for the loop. Tasks of one thread run in the order of their posts.
  /// @return false: the loop has ended, `task` was destroyed and will not run.
  [[nodiscard]] auto Post(Task task) -> bool;

  /// All tasks left so far, oldest first.
  [[nodiscard]] auto TakeAll() -> std::vector<Task>;

  /// Refuses posts from now on. @return the tasks that were accepted before.
  [[nodiscard]] auto Close() -> std::vector<Task>;

  /// The descriptor that the loop watches.
  [[nodiscard]] auto GetWakeup() noexcept -> Wakeup& { return wakeup_; }

 private:
  Wakeup wakeup_;  // const after construction
  Mutex mutex_;
  std::vector<Task> tasks_ TURTLE_GUARDED_BY(mutex_);
  bool closed_ TURTLE_GUARDED_BY(mutex_) = false;
};

}  // namespace TURTLE_SERVER
