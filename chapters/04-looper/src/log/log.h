// A line of log: when, how bad, what. To stderr, by one write(2), so that lines of several threads
// never mix.
//
// Interface:
//  * Log() writes one line; LogException() one about what was thrown.
//
// Thread: any.
#pragma once

#include <string_view>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// How bad it is: INFO, WARN, ERROR.
enum class LogLevel { kInfo, kWarning, kError };

/// Writes one line, `2026-01-31T23:59:59.123Z ERROR text`, in UTC. Control characters in `text`
/// come out as `?`: what a client sent can't forge a second line. Never throws, and never waits
/// for more than stderr does.
void Log(LogLevel level, std::string_view text) noexcept;

/// Writes `ERROR what threw: why` about the exception being handled, or `ERROR what threw something
/// that is no std::exception`. Only within a catch block. Allocates nothing, since memory may be
/// what was missing.
/// @param what the source of the exception
void LogException(std::string_view what) noexcept;

}  // namespace TURTLE_SERVER
