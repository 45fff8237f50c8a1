// The severity of a log line, as a number and as a word.
//
// Thread: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// The severity of a line. The numbers are those of MIN_LOG_LEVEL.
enum class LogLevel : std::uint8_t {
  kDebug = 0,    ///< details for tracing a fault
  kInfo = 1,     ///< normal events
  kWarning = 2,  ///< something to look at, some day
  kError = 3,    ///< something was not done
  kFatal = 4     ///< the program can't continue
};

/// Returns "DEBUG", "INFO", "WARN", "ERROR" or "FATAL".
[[nodiscard]] auto NameOf(LogLevel level) noexcept -> std::string_view;

/// Parses a level: its name in any case, including "WARNING", or its number from 0 to 4.
/// @return nullopt if it is not a level
[[nodiscard]] auto ParseLogLevel(std::string_view text) noexcept -> std::optional<LogLevel>;

}  // namespace TURTLE_SERVER
