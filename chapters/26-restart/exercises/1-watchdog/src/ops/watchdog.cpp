#include "ops/watchdog.h"

namespace TURTLE_SERVER {

auto WatchdogInterval(const std::optional<std::string>& /*usec*/,
                      const std::optional<std::string>& /*pid*/, long /*self*/)
    -> std::optional<std::chrono::microseconds> {
  return std::nullopt;  // TODO: is it meant for us, and how often?
}

}  // namespace TURTLE_SERVER
