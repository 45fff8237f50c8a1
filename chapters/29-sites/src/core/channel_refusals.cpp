#include "core/channel_refusals.h"

#include <chrono>
#include <string>

#include "log/log.h"

namespace TURTLE_SERVER {

void ChannelRefusals::Report(const Connection& connection, const char* reason) noexcept {
  try {
    Looper& looper = *connection.GetLooper();
    OfLoop& mine = Of(looper);
    if (mine.awaits_timer) {
      ++mine.untold;
      return;
    }
    Await(looper, mine);
    Log(level_, what_ + " of " + connection.GetPeerAddress().ToString() + " refused: " + reason);
  } catch (...) {
    LogException("logging a refused client");
  }
}

auto ChannelRefusals::Of(const Looper& looper) -> OfLoop& {
  const MutexLock lock(mutex_);
  return loops_[&looper];
}

void ChannelRefusals::Await(Looper& looper, OfLoop& mine) {
  looper.RunAfter(std::chrono::seconds(1), [this, &looper, &mine] { Tell(looper, mine); });
  mine.awaits_timer = true;  // only once there is one
}

void ChannelRefusals::Tell(Looper& looper, OfLoop& mine) {
  mine.awaits_timer = false;
  if (mine.untold != 0) {
    const std::size_t count = mine.untold;
    mine.untold = 0;
    Await(looper, mine);
    Log(level_, std::to_string(count) + " more " + what_ + (count == 1 ? "" : "s") + " refused");
  }
}

}  // namespace TURTLE_SERVER
