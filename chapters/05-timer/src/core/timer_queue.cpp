#include "core/timer_queue.h"

#include <limits>
#include <utility>

namespace TURTLE_SERVER {

auto TimerQueue::Add(TimePoint when, Task callback) -> TimerId {
  const TimerId id{when, ++last_number_};
  queue_.emplace(id, std::move(callback));
  return id;
}

auto TimerQueue::Cancel(TimerId id) -> bool { return queue_.erase(id) + due_.erase(id) != 0; }

auto TimerQueue::Next() const -> std::optional<TimePoint> {
  return queue_.empty() ? std::nullopt : std::optional(queue_.begin()->first.when);
}

auto TimerQueue::RunDue(TimePoint now) -> std::size_t {
  const auto end = queue_.upper_bound({now, std::numeric_limits<std::uint64_t>::max()});
  while (queue_.begin() != end) {
    due_.insert(queue_.extract(queue_.begin()));
  }
  std::size_t count = 0;
  for (; !due_.empty(); ++count) {
    const auto timer = due_.extract(due_.begin());
    timer.mapped()();
  }
  return count;
}

}  // namespace TURTLE_SERVER
