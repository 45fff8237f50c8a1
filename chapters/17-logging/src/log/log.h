// A line of log: when, how bad, what.
//
// Interface:
//  * Log() writes one line, and does not wait for its reader.
//  * LogException() writes one about what was thrown.
//  * IsLogged() says whether a level is on.
//
// Lines go to stderr, until there is a Logging (log/logging.h) that takes them elsewhere.
//
// Thread: any.
#pragma once

#include <string_view>

#include "log/log_level.h"

namespace TURTLE_SERVER {

/// Writes one line, `2026-01-31T23:59:59.123Z ERROR text`, in UTC, if its level is on. Control
/// characters in `text` come out as `?`: what a client sent can't forge a second line.
///
/// Never throws. Never waits for stderr either: lines that it does not take at once are left out,
/// and counted; the next line that gets through is preceded by one that tells how many are
/// missing. Only kFatal waits, for a second at most: it may be the last thing that is said. A
/// Logging with WhenFull::kBlock waits for every level, as long as its reader reads on.
void Log(LogLevel level, std::string_view text) noexcept;

/// Returns true if lines of this level are written: for those that are costly to put together.
///
/// At first that are the levels from MIN_LOG_LEVEL on, a number from 0 to 4 or a name in the
/// environment; without it those from kInfo on.
[[nodiscard]] auto IsLogged(LogLevel level) noexcept -> bool;

/// Writes `ERROR what threw: why` about the exception that is being handled, or `ERROR what threw
/// something that is no std::exception`. Only within a catch block. Needs no memory, for that may
/// be what was missing.
/// @param what whose exception it is
void LogException(std::string_view what) noexcept;

}  // namespace TURTLE_SERVER
