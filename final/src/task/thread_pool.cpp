#include "task/thread_pool.h"

#include <system_error>
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
  } catch (const std::system_error& error) {
    Stop();
    throw std::system_error(error.code(), "start a thread");
  } catch (...) {
    Stop();
    throw;
  }
}

auto ThreadPool::Submit(Task task) -> bool {
  {
    const MutexLock lock(mutex_);
    if (stopped_) {
      return false;
    }
    tasks_.push_back(std::move(task));
  }
  changed_.NotifyOne();
  return true;
}

void ThreadPool::Stop() {
  {
    const MutexLock lock(mutex_);
    stopped_ = true;
  }
  changed_.NotifyAll();
  for (std::thread& thread : threads_) {
    thread.join();
  }
  threads_.clear();
  // Tasks are left only if no thread has run. Each is destroyed after the lock is released, since
  // an object that it holds may call Submit(). No second queue takes them: it would need memory.
  bool more = true;
  while (more) {
    Task task;
    const MutexLock lock(mutex_);
    more = !tasks_.empty();
    if (more) {
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
  }
}

void ThreadPool::Run() {
  while (true) {
    Task task;
    {
      const MutexLock lock(mutex_);
      // The queue is checked under the lock: a notification before the wait is not lost, and a
      // spurious one has no effect.
      while (!stopped_ && tasks_.empty()) {
        changed_.Wait(mutex_);
      }
      if (tasks_.empty()) {
        return;
      }
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    try {
      task();
    } catch (...) {
      LogException("task");
    }
  }
}

}  // namespace TURTLE_SERVER
