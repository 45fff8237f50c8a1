#include "bench/alarm.h"

#ifdef __linux__

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <system_error>
#include <utility>

namespace TURTLE_SERVER {

Alarm::Alarm(Looper& looper, Task task)
    : looper_(looper),
      task_(std::move(task)),
      timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {
  if (!timer_) {
    throw std::system_error(errno, std::generic_category(), "timerfd_create");
  }
  watch_ = looper_.Watch(timer_.Get(), Interest::kRead, [this](const PollEvent&) {
    std::uint64_t times = 0;
    // Nothing to read: it has been set again since.
    if (::read(timer_.Get(), &times, sizeof times) == sizeof times) {
      task_();
    }
  });
}

Alarm::~Alarm() { looper_.Unwatch(watch_); }

void Alarm::Set(TimePoint when) {
  using std::chrono::nanoseconds;
  using std::chrono::seconds;
  // All zero would switch it off.
  const nanoseconds time = std::max(nanoseconds(when.time_since_epoch()), nanoseconds(1));
  const auto whole = std::chrono::duration_cast<seconds>(time);
  itimerspec setting{};
  setting.it_value.tv_sec = static_cast<time_t>(whole.count());
  setting.it_value.tv_nsec = static_cast<long>((time - whole).count());
  // It can only fail for arguments that are never passed.
  static_cast<void>(::timerfd_settime(timer_.Get(), TFD_TIMER_ABSTIME, &setting, nullptr));
}

}  // namespace TURTLE_SERVER

#endif  // __linux__
