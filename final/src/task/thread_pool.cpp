#include "task/thread_pool.h"

#include <exception>
#include <string>
#include <utility>

#include "log/log.h"

namespace TURTLE_SERVER {

ThreadPool::ThreadPool(std::size_t threads) : thread_count_(threads) { threads_.reserve(threads); }

ThreadPool::~ThreadPool() { Stop(); }

void ThreadPool::Start() {
  try {
    while (threads_.size() < thread_count_) {
      threads_.emplace_back([this] { Run(); });
    }
  } catch (...) {
    Stop();
    throw;
  }
}

auto ThreadPool::Submit(Task task) -> bool {
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) {
      return false;
    }
    tasks_.push_back(std::move(task));
  }
  changed_.notify_one();
  return true;
}

void ThreadPool::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) {
    thread.join();
  }
  threads_.clear();
}

void ThreadPool::Run() {
  while (true) {
    Task task;
    {
      std::unique_lock lock(mutex_);
      // The condition is looked at under the lock: a notification that comes before the wait is
      // not lost, and one that comes for nothing is not believed.
      changed_.wait(lock, [this] { return stopped_ || !tasks_.empty(); });
      if (tasks_.empty()) {
        return;
      }
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    try {
      task();
    } catch (const std::exception& error) {
      Log(LogLevel::kError, std::string("task threw: ") + error.what());
    } catch (...) {
      Log(LogLevel::kError, "task threw something that is no std::exception");
    }
  }
}

}  // namespace TURTLE_SERVER
