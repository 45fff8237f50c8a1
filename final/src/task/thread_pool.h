// Threads that run whatever they are given.
//
// Interface:
//  * Start() starts the threads; the constructor starts none, so nothing runs before it may.
//  * Submit() leaves a task, and an idle thread takes it.
//  * Stop() runs what was accepted, and joins.
//
// It knows nothing of sockets or loops: a loop is a task like any other, one that takes long.
//
// Thread: Submit() from any, its own threads included; the rest from the owner's.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "base/condition.h"
#include "base/mutex.h"

namespace TURTLE_SERVER {

/// A fixed number of threads and a queue of tasks.
class ThreadPool {
 public:
  /// The work of one thread. If it throws, that is logged, and the thread goes on.
  using Task = std::function<void()>;

  /// @param threads how many; 0 runs nothing
  explicit ThreadPool(std::size_t threads);

  /// Stop().
  ~ThreadPool();

  ThreadPool(const ThreadPool&) = delete;
  auto operator=(const ThreadPool&) -> ThreadPool& = delete;

  /// Starts the threads, once. Throws std::system_error when the system has no more; those that
  /// were started by then are stopped.
  void Start();

  /// Leaves `task` to be run, after those that were left before. Tasks may be left before Start().
  /// @return false: the pool was stopped, `task` was destroyed and will not run.
  [[nodiscard]] auto Submit(Task task) -> bool;

  /// Refuses tasks from now on, waits until all that were accepted have run, and joins the
  /// threads. Without Start(), the tasks are destroyed and don't run. Repeated, nothing happens.
  /// Not from a thread of the pool, which would wait for itself.
  void Stop();

 private:
  void Run();

  const std::size_t thread_count_;
  Mutex mutex_;
  Condition changed_;
  std::deque<Task> tasks_ TURTLE_GUARDED_BY(mutex_);
  bool stopped_ TURTLE_GUARDED_BY(mutex_) = false;

  std::vector<std::thread> threads_;  // the owner's thread only
};

}  // namespace TURTLE_SERVER
