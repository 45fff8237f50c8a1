// How bad it is, as a number and as a word.
//
// Thread: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// How bad it is. The numbers are those of MIN_LOG_LEVEL.
enum class LogLevel : std::uint8_t {
  kDebug = 0,    ///< for tracing a fault
  kInfo = 1,     ///< what happens as planned
  kWarning = 2,  ///< what somebody should look at, some day
  kError = 3,    ///< something was not done
  kFatal = 4     ///< the program can't go on
};

/// "DEBUG", "INFO", "WARN", "ERROR" or "FATAL".
[[nodiscard]] auto NameOf(LogLevel level) noexcept -> std::string_view;

/// Reads a level: its name in any case, "WARNING" too, or its number from 0 to 4.
/// @return nullopt: it is none
[[nodiscard]] auto ParseLogLevel(std::string_view text) noexcept -> std::optional<LogLevel>;

}  // namespace TURTLE_SERVER
