// Runs tasks on threads.
//
// Interface:
//  * Start() starts the threads; the constructor starts none, so no task runs too early.
//  * Submit() adds a task, which an idle thread takes.
//  * Stop() runs the accepted tasks, and joins the threads.
//
// It knows nothing of sockets or loops: a loop is just a task that runs for a long time.
//
// Thread: Submit() on any, including its own; the rest on the owner's.
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
  /// The work of one thread. An exception is logged, and the thread continues.
  using Task = std::function<void()>;

  /// @param threads how many; with 0 no task runs
  explicit ThreadPool(std::size_t threads);

  /// Calls Stop().
  ~ThreadPool();

  ThreadPool(const ThreadPool&) = delete;
  auto operator=(const ThreadPool&) -> ThreadPool& = delete;

  /// Starts the threads, once. Throws std::system_error if the system has no more; those already
  /// started are then stopped.
  void Start();

  /// Submits `task`, to be run after earlier ones. Tasks may be submitted before Start().
  /// @return false if the pool was stopped; `task` was destroyed and will not run.
  [[nodiscard]] auto Submit(Task task) -> bool;

  /// Refuses new tasks, waits until all accepted ones have run, and joins the threads. Without
  /// Start(), the tasks are destroyed and don't run. A second call does nothing. Must not be called
  /// on a thread of the pool, which would wait for itself.
  void Stop();

 private:
  void Run();

  const std::size_t thread_count_;
  Mutex mutex_;
  Condition changed_;
  std::deque<Task> tasks_ TURTLE_GUARDED_BY(mutex_);
  bool stopped_ TURTLE_GUARDED_BY(mutex_) = false;

  std::vector<std::thread> threads_;  // used only on the owner's thread
};

}  // namespace TURTLE_SERVER
