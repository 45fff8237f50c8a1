#include "bench/alarm.h"

#ifndef __linux__

#include <utility>

namespace TURTLE_SERVER {

Alarm::Alarm(Looper& looper, Task task) : looper_(looper), task_(std::move(task)) {}

Alarm::~Alarm() { looper_.Cancel(id_); }

void Alarm::Set(TimePoint when) {
  looper_.Cancel(id_);
  id_ = looper_.RunAfter(when - looper_.Now(), [this] { task_(); });
}

}  // namespace TURTLE_SERVER

#endif  // not __linux__
