// One line of log as text: `2026-01-31T23:59:59.123Z ERROR text`, in UTC.
//
// Thread: belongs to its maker.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "log/log_level.h"

namespace TURTLE_SERVER {

/// A finished line, with its newline. It owns no memory: a program that has none left can log.
class LogLine {
 public:
  /// No line is longer, in bytes: what doesn't fit is cut off.
  static constexpr std::size_t kMaxBytes = 1024;

  /// Control characters in `text`, and whatever is no UTF-8, come out as `?`: what a client sent
  /// can't forge a second line, nor tell a terminal anything.
  LogLine(LogLevel level, std::string_view text,
          std::chrono::system_clock::time_point time = std::chrono::system_clock::now()) noexcept;

  /// Returns the line.
  [[nodiscard]] auto View() const noexcept -> std::string_view { return {bytes_.data(), size_}; }

 private:
  std::array<char, kMaxBytes> bytes_;
  std::size_t size_;
};

/// Reports a log's own errors: lines that are missing, a file that can't be opened. `Log` does, but
/// not for the log that Log() itself writes to. nullptr: they are lines of that log, like those of
/// Log().
using ErrorSink = void (*)(LogLevel level, std::string_view text) noexcept;

/// Returns how many lines end in `text`.
[[nodiscard]] auto CountLines(std::string_view text) noexcept -> std::uint64_t;

/// Returns the line that tells how many lines are missing before it.
[[nodiscard]] auto LossLine(std::uint64_t lines) noexcept -> LogLine;

}  // namespace TURTLE_SERVER
