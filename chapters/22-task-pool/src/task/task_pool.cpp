#include "task/task_pool.h"

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include "log/log.h"

namespace TURTLE_SERVER {

namespace {

// With fewer than two, one long task would stop all others.
auto DefaultThreads() noexcept -> std::size_t {
  return std::clamp(std::thread::hardware_concurrency(), 2U, 16U);
}

}  // namespace

TaskPool::TaskPool(TaskPoolOptions options, ClockSource clock)
    : options_(options),
      count_(options.threads.value_or(DefaultThreads())),
      clock_(std::move(clock)) {
  threads_.reserve(count_);
}

TaskPool::~TaskPool() { Stop(); }

void TaskPool::Start() {
  if (count_ == 0) {
    Log(LogLevel::kInfo, "task_processes 0: slow work runs on the loops");
  }
  try {
    const MutexLock lock(mutex_);
    StartAll();
  } catch (const std::system_error& error) {
    Stop();
    throw std::system_error(error.code(), "start a thread");
  } catch (...) {
    Stop();
    throw;
  }
}

void TaskPool::StartAll() {
  while (threads_.size() < count_) {
    threads_.emplace_back([this] { Run(); });
  }
}

// Starts them unless Start() has. If only some can be started, it continues with those.
void TaskPool::StartAtNeed() noexcept {
  if (threads_.empty() && !stopped_) {
    try {
      StartAll();
    } catch (...) {
      LogException("task pool");
    }
  }
}

auto TaskPool::Submit(std::shared_ptr<PoolTask> task, const TaskOptions& options) noexcept
    -> SubmitResult {
  {
    const MutexLock lock(mutex_);
    StartAtNeed();
    if (stopped_ || threads_.empty()) {
      return SubmitResult::kStopped;
    }
    if (lines_.Size() >= options_.max_queued) {
      ++figures_.refused;
      return SubmitResult::kFull;
    }
    if (task->self_ != nullptr) {
      Log(LogLevel::kFatal, "a task was submitted twice");
      std::abort();
    }
    task->priority_ = options.priority;
    task->deadline_ = options.deadline;
    task->turn_ = clock_() + static_cast<int>(options.priority) * options_.overtake;
    lines_.Put(std::move(task));
  }
  changed_.NotifyOne();
  return SubmitResult::kAccepted;
}

auto TaskPool::Cancel(PoolTask& task) noexcept -> bool {
  std::shared_ptr<PoolTask> waited;
  {
    const MutexLock lock(mutex_);
    task.cancelled_.store(true, std::memory_order_relaxed);
    waited = lines_.Take(task);
    figures_.cancelled += waited ? 1 : 0;
  }
  if (waited) {
    waited->Drop(DropReason::kCancelled);
  }
  return waited != nullptr;
}

auto TaskPool::Expire(PoolTask& task) noexcept -> bool {
  std::shared_ptr<PoolTask> waited;
  {
    const MutexLock lock(mutex_);
    waited = lines_.Take(task);
    figures_.expired += waited ? 1 : 0;
  }
  if (waited) {
    waited->Drop(DropReason::kExpired);
  }
  return waited != nullptr;
}

void TaskPool::Stop() {
  for (bool dropped = true; dropped;) {
    std::shared_ptr<PoolTask> waited;
    {
      const MutexLock lock(mutex_);
      stopped_ = true;
      waited = lines_.TakeNext();
      figures_.stopped += waited ? 1 : 0;
    }
    dropped = waited != nullptr;
    if (dropped) {
      waited->Drop(DropReason::kStopped);
    }
  }
  changed_.NotifyAll();
  std::vector<std::thread> threads;
  {
    const MutexLock lock(mutex_);
    threads.swap(threads_);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

auto TaskPool::Figures() const -> TaskFigures {
  const MutexLock lock(mutex_);
  TaskFigures figures = figures_;
  figures.queued = lines_.Size();
  return figures;
}

void TaskPool::Run() {
  while (true) {
    std::shared_ptr<PoolTask> task;
    bool expired = false;
    {
      const MutexLock lock(mutex_);
      while (!stopped_ && lines_.Size() == 0) {
        changed_.Wait(mutex_);
      }
      if (stopped_) {
        return;  // Stop() drops the waiting tasks
      }
      task = lines_.TakeNext();
      // Read when its turn has come: it may have waited all that time.
      expired = task->deadline_ <= clock_();
      figures_.expired += expired ? 1 : 0;
      figures_.running += expired ? 0 : 1;
    }
    if (expired) {
      task->Drop(DropReason::kExpired);
      continue;
    }
    try {
      task->Run();
    } catch (...) {
      LogException("task");
    }
    task.reset();  // destroys its captures before others see that it has finished
    const MutexLock lock(mutex_);
    --figures_.running;
    ++figures_.ran;
  }
}

void TaskPool::Lines::Put(std::shared_ptr<PoolTask> task) noexcept {
  Line& line = lines_[static_cast<std::size_t>(task->priority_)];
  PoolTask* const added = task.get();
  added->before_ = line.back;
  added->behind_ = nullptr;
  (line.back != nullptr ? line.back->behind_ : line.front) = added;
  line.back = added;
  added->self_ = std::move(task);
  ++size_;
}

// Removes a waiting task. @return the pool's share of it; nullptr if it does not wait
auto TaskPool::Lines::Take(PoolTask& task) noexcept -> std::shared_ptr<PoolTask> {
  if (task.self_ != nullptr) {
    Line& line = lines_[static_cast<std::size_t>(task.priority_)];
    (task.before_ != nullptr ? task.before_->behind_ : line.front) = task.behind_;
    (task.behind_ != nullptr ? task.behind_->before_ : line.back) = task.before_;
    --size_;
  }
  return std::exchange(task.self_, nullptr);
}

// Returns the task whose turn is first; nullptr if none waits. Turns only rise within a queue, so
// the tasks in front are enough. For equal turns, the higher priority goes first.
auto TaskPool::Lines::TakeNext() noexcept -> std::shared_ptr<PoolTask> {
  PoolTask* next = nullptr;
  for (const Line& line : lines_) {
    if (line.front != nullptr && (next == nullptr || line.front->turn_ < next->turn_)) {
      next = line.front;
    }
  }
  return next != nullptr ? Take(*next) : nullptr;
}

}  // namespace TURTLE_SERVER
