// Finds how often a service manager expects a sign of life: sd_watchdog_enabled(3).
//
// systemd sets WATCHDOG_USEC to the longest permitted silence, and WATCHDOG_PID to the process that
// it concerns. A service that is silent for longer is killed and restarted.
//
// Thread: free function without state.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Returns half of the longest silence, so one message may be late.
/// @param usec the value of WATCHDOG_USEC, in microseconds; nullopt: not set
/// @param pid the value of WATCHDOG_PID; nullopt: not set, so it concerns any process
/// @param self the id of this process
/// @return at least 1 µs; nullopt if this process is not watched
/// @throws std::runtime_error "WATCHDOG_USEC='soon' is not a number from 1 to 9223372036854775807";
///     likewise WATCHDOG_PID, up to 2147483647
[[nodiscard]] auto WatchdogInterval(const std::optional<std::string>& usec,
                                    const std::optional<std::string>& pid, long self)
    -> std::optional<std::chrono::microseconds>;

}  // namespace TURTLE_SERVER
