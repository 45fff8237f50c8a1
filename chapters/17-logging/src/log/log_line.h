// Formats one line of log: `2026-01-31T23:59:59.123Z ERROR text`, in UTC.
//
// Thread: that of the object's owner.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "log/log_level.h"

namespace TURTLE_SERVER {

/// A finished line, with its newline. It owns no memory: a program that is out of memory can log.
class LogLine {
 public:
  /// The most bytes of a line: longer text is cut off.
  static constexpr std::size_t kMaxBytes = 1024;

  /// Control characters in `text`, and bytes that are not UTF-8, become `?`: a client's bytes can
  /// neither forge a second line nor control a terminal.
  LogLine(LogLevel level, std::string_view text,
          std::chrono::system_clock::time_point time = std::chrono::system_clock::now()) noexcept;

  /// Returns the line.
  [[nodiscard]] auto View() const noexcept -> std::string_view { return {bytes_.data(), size_}; }

 private:
  std::array<char, kMaxBytes> bytes_;
  std::size_t size_;
};

/// Reports a log's own errors: missing lines, or a file that can't be opened. `Log` is one, but not
/// for the log that Log() itself writes to. With nullptr, errors become lines of that log, like
/// those of Log().
using ErrorSink = void (*)(LogLevel level, std::string_view text) noexcept;

/// Returns the number of lines in `text`, by their ends.
[[nodiscard]] auto CountLines(std::string_view text) noexcept -> std::uint64_t;

/// Returns the line that reports how many lines are missing before it.
[[nodiscard]] auto LossLine(std::uint64_t lines) noexcept -> LogLine;

}  // namespace TURTLE_SERVER
