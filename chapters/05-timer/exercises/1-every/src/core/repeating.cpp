#include "core/repeating.h"

#include <utility>

namespace TURTLE_SERVER {

Repeating::Repeating(Looper& looper, Clock::duration period, Task task)
    : looper_(looper), timer_(looper.RunAfter(period, std::move(task))) {
  // TODO: repeat
}

Repeating::~Repeating() { looper_.Cancel(timer_); }

}  // namespace TURTLE_SERVER
