#include "core/proxy_refusals.h"

#include <chrono>
#include <string>

#include "log/log.h"

namespace TURTLE_SERVER {

void ProxyRefusals::Report(const Connection& connection, const char* reason) noexcept {
  try {
    Looper& looper = *connection.GetLooper();
    OfLoop& mine = Of(looper);
    if (mine.awaits_timer) {
      ++mine.untold;
      return;
    }
    Await(looper, mine);
    Log(LogLevel::kWarning, "PROXY header of " + connection.GetPeerAddress().ToString() +
                                " refused: " + std::string(reason));
  } catch (...) {
    LogException("logging a PROXY header");
  }
}

auto ProxyRefusals::Of(const Looper& looper) -> OfLoop& {
  const MutexLock lock(mutex_);
  return loops_[&looper];
}

void ProxyRefusals::Await(Looper& looper, OfLoop& mine) {
  looper.RunAfter(std::chrono::seconds(1), [&looper, &mine] { Tell(looper, mine); });
  mine.awaits_timer = true;  // only once there is one
}

void ProxyRefusals::Tell(Looper& looper, OfLoop& mine) {
  mine.awaits_timer = false;
  if (mine.untold != 0) {
    const std::size_t count = mine.untold;
    mine.untold = 0;
    Await(looper, mine);
    Log(LogLevel::kWarning,
        std::to_string(count) + " more PROXY header" + (count == 1 ? "" : "s") + " refused");
  }
}

}  // namespace TURTLE_SERVER
