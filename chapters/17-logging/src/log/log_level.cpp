#include "log/log_level.h"

#include <array>
#include <cstddef>

#include "base/ascii.h"

namespace TURTLE_SERVER {

namespace {

constexpr std::array<std::string_view, 5> kNames = {"DEBUG", "INFO", "WARN", "ERROR", "FATAL"};

}  // namespace

auto NameOf(LogLevel level) noexcept -> std::string_view {
  return kNames[static_cast<std::size_t>(level)];
}

auto ParseLogLevel(std::string_view text) noexcept -> std::optional<LogLevel> {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    const bool number = text.size() == 1 && text.front() == static_cast<char>('0' + i);
    if (number || ascii::EqualIgnoreCase(text, kNames[i])) {
      return static_cast<LogLevel>(i);
    }
  }
  if (ascii::EqualIgnoreCase(text, "WARNING")) {
    return LogLevel::kWarning;
  }
  return std::nullopt;
}

}  // namespace TURTLE_SERVER
