// Runs long tasks on threads, with a bounded queue.
//
//   const auto task = MakeTask([](const PoolTask& self) {
//     while (!self.Cancelled() && CalculateOn()) {}
//   });
//   if (pool.Submit(task, {Priority::kLow}) == SubmitResult::kFull) …
//
// Interface:
//  * The first task starts the threads, or Start() does. Stop() ends them: waiting tasks are
//    dropped, running ones finish.
//  * Submit() adds a task, or refuses it at once.
//  * Cancel() drops a waiting task, and informs a running one; Expire() only does the first.
//  * Figures() returns the statistics.
//
// Each accepted task is either run or dropped, by exactly one call of Run() or Drop().
//
// Each priority has a queue, first come, first served. Of the three tasks in front, the one with
// the earliest turn runs first. A turn is the time of submission plus `TaskPoolOptions::overtake`
// for each step below the highest priority. So nothing starves: a task is only overtaken by tasks
// that come within that time after it.
//
// One mutex guards everything. It is held only while a task is linked into a list. Tasks take
// milliseconds, or they belong elsewhere; a lock-free queue would make them no faster.
//
// Thread: any, including its own; Start() and Stop() on the owner's.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/condition.h"
#include "base/mutex.h"

namespace TURTLE_SERVER {

/// The order of waiting tasks.
enum class Priority : std::uint8_t { kHigh, kNormal, kLow };

/// Why a task was not run.
enum class DropReason : std::uint8_t {
  kCancelled,  ///< its result is no longer needed
  kExpired,    ///< its deadline has passed while it waited
  kStopped,    ///< the pool was stopped
};

/// The result of Submit().
enum class SubmitResult : std::uint8_t {
  kStopped,   ///< refused: the pool was stopped, or has no threads
  kFull,      ///< refused: too many are waiting
  kAccepted,  ///< it will be run or dropped
};

class TaskPool;

/// A task, shared by the pool and the code that may cancel it.
class PoolTask {
 public:
  PoolTask() = default;
  PoolTask(const PoolTask&) = delete;
  auto operator=(const PoolTask&) -> PoolTask& = delete;
  virtual ~PoolTask() = default;

  /// Returns true once it was cancelled. A long Run() should check it now and then. Any thread.
  [[nodiscard]] auto Cancelled() const noexcept -> bool {
    return cancelled_.load(std::memory_order_relaxed);
  }

  /// Returns the same for callers that don't know tasks.
  [[nodiscard]] auto CancelledFlag() const noexcept -> const std::atomic<bool>& {
    return cancelled_;
  }

 private:
  friend class TaskPool;

  /// Does the work, on a thread of the pool. An exception is logged.
  virtual void Run() = 0;

  /// Called in place of Run(), without a lock: by Cancel(), Expire() or Stop(), on their callers'
  /// threads, or on a thread of the pool.
  virtual void Drop(DropReason why) noexcept = 0;

  std::atomic<bool> cancelled_{false};

  // Guarded by the pool's mutex.
  std::shared_ptr<PoolTask> self_;  // the pool's share while it waits, without an allocation
  PoolTask* before_ = nullptr;
  PoolTask* behind_ = nullptr;
  Priority priority_ = Priority::kNormal;
  std::chrono::steady_clock::time_point turn_{};
  std::chrono::steady_clock::time_point deadline_{};
};

/// Makes a task from a function; one allocation holds both.
/// @param work a function of (const PoolTask&), the task itself
/// @param dropped a function of (DropReason), called in place of `work`; it must not throw
template <class Work, class Dropped>
[[nodiscard]] auto MakeTask(Work work, Dropped dropped) -> std::shared_ptr<PoolTask> {
  class FunctionTask : public PoolTask {
   public:
    FunctionTask(Work work, Dropped dropped)
        : work_(std::move(work)), dropped_(std::move(dropped)) {}

   private:
    void Run() override { work_(*this); }
    void Drop(DropReason why) noexcept override { dropped_(why); }

    Work work_;
    Dropped dropped_;
  };
  return std::make_shared<FunctionTask>(std::move(work), std::move(dropped));
}

/// Does the same if it doesn't matter whether the task was dropped.
template <class Work>
[[nodiscard]] auto MakeTask(Work work) -> std::shared_ptr<PoolTask> {
  return MakeTask(std::move(work), [](DropReason) {});
}

/// Settings of a TaskPool.
struct TaskPoolOptions {
  /// 0: it has none, and refuses every task. nullopt: one per CPU, but at least 2 and at most
  /// 16.
  std::optional<std::size_t> threads{};
  std::size_t max_queued = 1024;  ///< how many tasks may wait
  /// How much later a task of the next higher priority may come and still overtake another.
  std::chrono::milliseconds overtake{1000};
};

/// The state of a pool, and its counts.
struct TaskFigures {
  std::size_t queued = 0;       ///< waiting now
  std::size_t running = 0;      ///< running now
  std::uint64_t ran = 0;        ///< finished
  std::uint64_t refused = 0;    ///< not accepted, because too many were waiting
  std::uint64_t cancelled = 0;  ///< cancelled while they waited
  std::uint64_t expired = 0;    ///< waited too long
  std::uint64_t stopped = 0;    ///< waiting when the pool was stopped
};

/// A fixed number of threads, and a queue of tasks for them.
class TaskPool {
 public:
  using Clock = std::chrono::steady_clock;               ///< The clock of deadlines.
  using TimePoint = Clock::time_point;                   ///< A time on that clock.
  using ClockSource = std::function<TimePoint()>;        ///< Returns the current time.
  static constexpr TimePoint kNever = TimePoint::max();  ///< The deadline of a patient task.

  /// How to run a task.
  struct TaskOptions {
    Priority priority = Priority::kNormal;  ///< higher ones go first
    TimePoint deadline = kNever;            ///< from then on, the task is dropped
  };

  /// @param options settings
  /// @param clock called under the pool's lock; tests pass their own
  explicit TaskPool(TaskPoolOptions options = {}, ClockSource clock = Clock::now);

  /// Calls Stop().
  ~TaskPool();

  TaskPool(const TaskPool&) = delete;
  auto operator=(const TaskPool&) -> TaskPool& = delete;

  /// Starts the threads; otherwise the first Submit() does. A second call does nothing. A pool of 0
  /// threads logs that. Throws std::system_error if the system has no more threads; those already
  /// started are then stopped.
  void Start();

  /// Submits a task. The first one starts the threads, unless Start() has; nothing else is
  /// allocated. If the system can't start any thread, that is logged and the task is refused with
  /// kStopped.
  /// @param task not nullptr; not submitted before
  /// @param options priority and deadline
  /// @return kAccepted, or why not; a refused task is neither run nor dropped
  [[nodiscard]] auto Submit(std::shared_ptr<PoolTask> task, const TaskOptions& options) noexcept
      -> SubmitResult;

  /// Drops `task` if it waits; if it runs, its Cancelled() becomes true.
  /// @param task submitted here, or nowhere
  /// @return true if it was dropped
  auto Cancel(PoolTask& task) noexcept -> bool;

  /// Drops `task` if it waits, as if its deadline had passed: for callers that know it before a
  /// thread of the pool does. @return true if it was dropped
  auto Expire(PoolTask& task) noexcept -> bool;

  /// Refuses new tasks, drops the waiting ones, and joins the threads when the running tasks have
  /// finished. A second call does nothing. Must not be called on a thread of the pool, which would
  /// wait for itself.
  void Stop();

  /// Returns how many threads it has, or will have once started.
  [[nodiscard]] auto Threads() const noexcept -> std::size_t { return count_; }

  /// Returns the statistics.
  [[nodiscard]] auto Figures() const -> TaskFigures;

 private:
  // The waiting tasks, a queue for each priority. The links are in the tasks.
  class Lines {
   public:
    void Put(std::shared_ptr<PoolTask> task) noexcept;
    auto Take(PoolTask& task) noexcept -> std::shared_ptr<PoolTask>;
    auto TakeNext() noexcept -> std::shared_ptr<PoolTask>;
    [[nodiscard]] auto Size() const noexcept -> std::size_t { return size_; }

   private:
    struct Line {
      PoolTask* front = nullptr;
      PoolTask* back = nullptr;
    };

    std::array<Line, 3> lines_;  // by Priority
    std::size_t size_ = 0;
  };

  void Run();

  const TaskPoolOptions options_;
  const std::size_t count_;  // threads
  const ClockSource clock_;
  mutable Mutex mutex_;
  Condition changed_;
  Lines lines_ TURTLE_GUARDED_BY(mutex_);
  TaskFigures figures_ TURTLE_GUARDED_BY(mutex_);  // except `queued`
  bool stopped_ TURTLE_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_ TURTLE_GUARDED_BY(mutex_);

  // After the mutex, which they name.
  void StartAtNeed() noexcept TURTLE_REQUIRES(mutex_);
  void StartAll() TURTLE_REQUIRES(mutex_);
};

}  // namespace TURTLE_SERVER
