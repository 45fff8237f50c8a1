// Logs lines with a time, a level and a text.
//
// Interface:
//  * Log() writes one line, and does not wait for its reader.
//  * LogException() writes a line about an exception.
//  * IsLogged() returns whether a level is on.
//
// Lines go to stderr unless there is a Logging (log/logging.h) that redirects them.
//
// Thread: any.
#pragma once

#include <string_view>

#include "log/log_level.h"

namespace TURTLE_SERVER {

/// Writes one line, `2026-01-31T23:59:59.123Z ERROR text`, in UTC, if its level is on. Control
/// characters in `text` become `?`, so a client's bytes can't forge a second line.
///
/// Never throws. Never waits for stderr either: lines that it does not take at once are dropped and
/// counted. A line with their number precedes the next line that gets through. Only kFatal waits,
/// for at most a second, because it may be the last line. A Logging with WhenFull::kBlock waits at
/// every level, as long as its reader keeps reading.
void Log(LogLevel level, std::string_view text) noexcept;

/// Returns true if lines of this level are written; for lines that are costly to make.
///
/// Initially these are the levels from MIN_LOG_LEVEL on, a number from 0 to 4 or a name in the
/// environment; without it, the levels from kInfo on.
[[nodiscard]] auto IsLogged(LogLevel level) noexcept -> bool;

/// Writes `ERROR what threw: why` about the exception being handled, or `ERROR what threw something
/// that is no std::exception`. Only within a catch block. Allocates nothing, since memory may be
/// what was missing.
/// @param what the source of the exception
void LogException(std::string_view what) noexcept;

}  // namespace TURTLE_SERVER
