#include "core/refusal_log.h"

#include <chrono>
#include <string>

#include "log/log.h"

namespace TURTLE_SERVER {

void RefusalLog::Count(Looper& looper, std::size_t limit) {
  total_.Add(1);
  ++untold_;
  limit_ = limit;
  if (!awaits_timer_) {
    looper.RunAfter(std::chrono::seconds(1), [this] {
      awaits_timer_ = false;
      Tell();
    });
    awaits_timer_ = true;  // not before there is one
  }
}

void RefusalLog::Tell() {
  if (untold_ != 0) {
    Log(LogLevel::kWarning, std::to_string(untold_) + (untold_ == 1 ? " client" : " clients") +
                                " refused: max_connections is " + std::to_string(limit_));
    untold_ = 0;
  }
}

}  // namespace TURTLE_SERVER
