#include "core/mailbox.h"

#include <utility>

namespace TURTLE_SERVER {

auto Mailbox::Post(Task task) -> bool {
  bool first = false;
  {
    const MutexLock lock(mutex_);
    if (closed_) {
      return false;
    }
    first = tasks_.empty();
    tasks_.push_back(std::move(task));
  }
  if (first) {
    wakeup_.Signal();  // an earlier task has already woken the loop
  }
  return true;
}

auto Mailbox::TakeAll() -> std::vector<Task> {
  wakeup_.Clear();  // before the tasks are taken: a post in between wakes the loop once more
  const MutexLock lock(mutex_);
  return std::exchange(tasks_, {});
}

auto Mailbox::Close() -> std::vector<Task> {
  const MutexLock lock(mutex_);
  closed_ = true;
  return std::exchange(tasks_, {});
}

}  // namespace TURTLE_SERVER
