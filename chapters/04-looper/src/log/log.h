// Logs lines with a time, a level and a text to stderr, by one write(2), so lines of several
// threads never mix.
//
// Interface:
//  * Log() writes one line; LogException() writes one about an exception.
//
// Thread: any.
#pragma once

#include <string_view>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// The severity of a line: INFO, WARN, ERROR.
enum class LogLevel { kInfo, kWarning, kError };

/// Writes one line, `2026-01-31T23:59:59.123Z ERROR text`, in UTC. Control characters in `text`
/// become `?`, so a client's bytes can't forge a second line. Never throws, and waits only as long
/// as stderr does.
void Log(LogLevel level, std::string_view text) noexcept;

/// Writes `ERROR what threw: why` about the exception being handled, or `ERROR what threw something
/// that is no std::exception`. Only within a catch block. Allocates nothing, since memory may be
/// what was missing.
/// @param what the source of the exception
void LogException(std::string_view what) noexcept;

}  // namespace TURTLE_SERVER
