// A box of tasks that a test leaves for a loop on another thread.
#pragma once

#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "core/looper.h"
#include "core/wakeup.h"

namespace TURTLE_SERVER::test {

/// A queue of tasks and a wake-up that the loop watches.
class TaskBox {
 public:
  /// Makes a box for `looper`, which must not run yet and must outlive it.
  explicit TaskBox(Looper& looper) {
    looper.Watch(wakeup_.Fd(), Interest::kRead, [this](const PollEvent&) { RunAll(); });
  }

  TaskBox(const TaskBox&) = delete;
  auto operator=(const TaskBox&) -> TaskBox& = delete;

  /// Leaves `task`, which must not throw, for the loop. Any thread.
  /// @return false: the loop has ended, `task` will not run.
  [[nodiscard]] auto Leave(std::function<void()> task) -> bool {
    {
      const std::lock_guard lock(mutex_);
      if (closed_) {
        return false;
      }
      tasks_.push_back(std::move(task));
    }
    wakeup_.Signal();
    return true;
  }

  /// Refuses tasks from now on, and drops those that didn't run. Any thread, after the loop's end.
  void Close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    tasks_.clear();
  }

 private:
  void RunAll() {
    wakeup_.Clear();
    std::vector<std::function<void()>> tasks;
    {
      const std::lock_guard lock(mutex_);
      tasks.swap(tasks_);
    }
    for (const auto& task : tasks) {
      task();
    }
  }

  Wakeup wakeup_;
  std::mutex mutex_;
  std::vector<std::function<void()>> tasks_;  // guarded by mutex_
  bool closed_ = false;                       // guarded by mutex_
};

}  // namespace TURTLE_SERVER::test
