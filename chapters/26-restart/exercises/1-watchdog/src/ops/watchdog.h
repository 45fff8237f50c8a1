// How often a service manager wants to hear that this program is alive: sd_watchdog_enabled(3).
//
// systemd leaves the longest silence that it allows in WATCHDOG_USEC, and in WATCHDOG_PID whose
// silence is meant. A service that is silent for longer is ended and started again.
//
// Thread: free function without state.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Returns half of the longest silence, so that one message may be late.
/// @param usec the value of WATCHDOG_USEC, in microseconds; nullopt: it is not set
/// @param pid the value of WATCHDOG_PID; nullopt: it is not set, so any process is meant
/// @param self the id of this process
/// @return at least 1 µs; nullopt: nobody waits for this process
/// @throws std::runtime_error "WATCHDOG_USEC='soon' is not a number from 1 to 9223372036854775807";
///     likewise WATCHDOG_PID, up to 2147483647
[[nodiscard]] auto WatchdogInterval(const std::optional<std::string>& usec,
                                    const std::optional<std::string>& pid, long self)
    -> std::optional<std::chrono::microseconds>;

}  // namespace TURTLE_SERVER
