// Threads for work that takes long, with a queue that has an end.
//
//   const auto task = MakeTask([](const PoolTask& self) {
//     while (!self.Cancelled() && CalculateOn()) {}
//   });
//   if (pool.Submit(task, {Priority::kLow}) == SubmitResult::kFull) …
//
// Interface:
//  * The first task starts the threads, or Start() does. Stop() ends them: what waits is dropped,
//    what runs finishes.
//  * Submit() leaves a task, or refuses it at once.
//  * Cancel() drops a task that waits, and tells one that runs; Expire() does the first only.
//  * Figures() returns the statistics.
//
// Each task that was accepted is either run or dropped, and it is told which: by Run() or Drop(),
// once.
//
// There is a line for each priority, first come, first served. Of the three in front, the one whose
// turn comes first goes first. Its turn is the time at which it was left, plus
// `TaskPoolOptions::overtake` for each step of priority below the highest. So nothing starves: a
// task is overtaken only by those that come within that time after it.
//
// One mutex guards it all. It is held for as long as it takes to hang a task into a list. The tasks
// take milliseconds, or they belong elsewhere; no queue without locks would make them any faster.
//
// Thread: any, its own threads included; Start() and Stop() from the owner's.
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

/// The order of the tasks that wait.
enum class Priority : std::uint8_t { kHigh, kNormal, kLow };

/// Why a task was not run.
enum class DropReason : std::uint8_t {
  kCancelled,  ///< nobody wants it any more
  kExpired,    ///< its deadline has passed while it waited
  kStopped,    ///< the pool has ended
};

/// The result of Submit().
enum class SubmitResult : std::uint8_t {
  kStopped,   ///< refused: the pool was stopped, or has no threads
  kFull,      ///< refused: so many wait already
  kAccepted,  ///< it will be run or dropped
};

class TaskPool;

/// A task. Shared by the pool and by those who may cancel it.
class PoolTask {
 public:
  PoolTask() = default;
  PoolTask(const PoolTask&) = delete;
  auto operator=(const PoolTask&) -> PoolTask& = delete;
  virtual ~PoolTask() = default;

  /// Returns true once it was cancelled. A Run() that takes long asks now and then. Any thread.
  [[nodiscard]] auto Cancelled() const noexcept -> bool {
    return cancelled_.load(std::memory_order_relaxed);
  }

  /// The same, for callers that don't know tasks.
  [[nodiscard]] auto CancelledFlag() const noexcept -> const std::atomic<bool>& {
    return cancelled_;
  }

 private:
  friend class TaskPool;

  /// Does it, on a thread of the pool. An exception from it is logged.
  virtual void Run() = 0;

  /// Called in place of Run(), without a lock: by Cancel(), Expire() or Stop(), on their callers'
  /// threads, or on a thread of the pool.
  virtual void Drop(DropReason why) noexcept = 0;

  std::atomic<bool> cancelled_{false};

  // Guarded by the pool's mutex.
  std::shared_ptr<PoolTask> self_;  // while it waits: the pool's share, without an allocation
  PoolTask* before_ = nullptr;
  PoolTask* behind_ = nullptr;
  Priority priority_ = Priority::kNormal;
  std::chrono::steady_clock::time_point turn_{};
  std::chrono::steady_clock::time_point deadline_{};
};

/// A task made of a function; one allocation holds both.
/// @param work a function of (const PoolTask&), the task itself
/// @param dropped a function of (DropReason), called in place of `work`; it does not throw
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

/// The same, of which nobody needs to know whether it was dropped.
template <class Work>
[[nodiscard]] auto MakeTask(Work work) -> std::shared_ptr<PoolTask> {
  return MakeTask(std::move(work), [](DropReason) {});
}

/// How a TaskPool runs.
struct TaskPoolOptions {
  /// 0: it has none, and refuses every task. nullopt: one for each CPU, but at least 2 and at most
  /// 16.
  std::optional<std::size_t> threads{};
  std::size_t max_queued = 1024;  ///< so many tasks may wait
  /// A task may be overtaken by one of the next higher priority that comes so much later.
  std::chrono::milliseconds overtake{1000};
};

/// The state of a pool, and its counts.
struct TaskFigures {
  std::size_t queued = 0;       ///< wait now
  std::size_t running = 0;      ///< run now
  std::uint64_t ran = 0;        ///< have run
  std::uint64_t refused = 0;    ///< were not accepted, because too many waited
  std::uint64_t cancelled = 0;  ///< were cancelled while they waited
  std::uint64_t expired = 0;    ///< waited too long
  std::uint64_t stopped = 0;    ///< waited when the pool was stopped
};

/// A fixed number of threads, and tasks that wait for one of them.
class TaskPool {
 public:
  using Clock = std::chrono::steady_clock;               ///< What deadlines are measured by.
  using TimePoint = Clock::time_point;                   ///< A moment on it.
  using ClockSource = std::function<TimePoint()>;        ///< Says what time it is.
  static constexpr TimePoint kNever = TimePoint::max();  ///< The deadline of a task that can wait.

  /// How a task is to be run.
  struct TaskOptions {
    Priority priority = Priority::kNormal;  ///< higher ones go first
    TimePoint deadline = kNever;            ///< from then on it is not begun, but dropped
  };

  /// @param options how it runs
  /// @param clock called under the pool's lock; tests pass one of their own
  explicit TaskPool(TaskPoolOptions options = {}, ClockSource clock = Clock::now);

  /// Stop().
  ~TaskPool();

  TaskPool(const TaskPool&) = delete;
  auto operator=(const TaskPool&) -> TaskPool& = delete;

  /// Starts the threads, which the first Submit() does otherwise. Repeated, nothing happens. A pool
  /// of 0 threads says so in the log. Throws std::system_error if the system has no more threads;
  /// those that were started by then are stopped.
  void Start();

  /// Leaves a task. The first one starts the threads, unless Start() has; nothing else is
  /// allocated. If the system has no thread at all, the log says so and the task is refused,
  /// kStopped.
  /// @param task not nullptr; has not been left before
  /// @param options how it is to be run
  /// @return kAccepted, or why not; a refused task is neither run nor dropped
  [[nodiscard]] auto Submit(std::shared_ptr<PoolTask> task, const TaskOptions& options) noexcept
      -> SubmitResult;

  /// Drops `task` if it waits; if it runs, its Cancelled() becomes true.
  /// @param task left here, or nowhere
  /// @return true: it was dropped
  auto Cancel(PoolTask& task) noexcept -> bool;

  /// Drops `task` if it waits, as if its deadline had passed: for callers that know before a thread
  /// of the pool gets to it. @return true: it was dropped
  auto Expire(PoolTask& task) noexcept -> bool;

  /// Refuses tasks from now on, drops those that wait, and joins the threads when they have done
  /// what they do. Repeated, nothing happens. Not from a thread of the pool, which would wait for
  /// itself.
  void Stop();

  /// Returns how many threads it has, or will have when it starts.
  [[nodiscard]] auto Threads() const noexcept -> std::size_t { return count_; }

  /// How things stand.
  [[nodiscard]] auto Figures() const -> TaskFigures;

 private:
  // Those that wait, a line for each priority. The links are in the tasks.
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
  TaskFigures figures_ TURTLE_GUARDED_BY(mutex_);  // but for `queued`
  bool stopped_ TURTLE_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_ TURTLE_GUARDED_BY(mutex_);

  // Below the mutex, which they name.
  void StartAtNeed() noexcept TURTLE_REQUIRES(mutex_);
  void StartAll() TURTLE_REQUIRES(mutex_);
};

}  // namespace TURTLE_SERVER
