#include "core/refusal_log.h"

#include <array>
#include <chrono>
#include <cstdio>

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
    awaits_timer_ = true;  // only once there is one
  }
}

void RefusalLog::Tell() noexcept {
  if (untold_ != 0) {
    // This has room for two numbers and the words: it is logged even without memory.
    std::array<char, 120> text{};
    const char* const limit = kind_ == RefusalKind::kByLoop
                                  ? "refused: max_connections is"
                                  : "refused: max_connections_per_address is";
    std::snprintf(text.data(), text.size(), "%zu client%s %s %zu", untold_, untold_ == 1 ? "" : "s",
                  limit, limit_);
    Log(LogLevel::kWarning, text.data());
    untold_ = 0;
  }
}

}  // namespace TURTLE_SERVER
