// Redirects the program's log for as long as this object lives.
//
//   Logging logging(options);   // first in main(): from here on Log() writes to a file
//
// Interface:
//  * Logging takes over the lines of Log(), and returns them to stderr at its end.
//  * SetLevel() changes which lines are logged.
//  * Reopen() follows a file that logrotate(8) has renamed.
//
// Thread: made and destroyed while no other thread logs; the rest may be called on any thread.
#pragma once

#include <cstdint>
#include <optional>

#include "log/log_level.h"
#include "log/log_writer.h"

namespace TURTLE_SERVER {

/// The level of the log, and its destination.
struct LoggingOptions {
  std::optional<LogLevel>
      level{};                ///< Lines below it are left out; nullopt: MIN_LOG_LEVEL decides.
  LogWriterOptions writer{};  ///< The destination of lines.
};

/// Takes the lines of Log().
class Logging {
 public:
  /// @throws std::system_error, which names the file, if it can't be opened
  /// @throws std::logic_error if there is a Logging already
  explicit Logging(const LoggingOptions& options);

  /// Writes all lines, except for those that a stalled reader of stderr does not take within
  /// LogWriterOptions::patience.
  ~Logging();

  Logging(const Logging&) = delete;
  auto operator=(const Logging&) -> Logging& = delete;

  /// Sets the lowest level that is logged; nullopt restores the level from before this object,
  /// which MIN_LOG_LEVEL has set.
  void SetLevel(std::optional<LogLevel> level) noexcept;

  /// Calls LogWriter::Reopen(). Async-signal-safe.
  void Reopen() noexcept { writer_.Reopen(); }

  /// Returns LogWriter::DroppedLines().
  [[nodiscard]] auto DroppedLines() const noexcept -> std::uint64_t {
    return writer_.DroppedLines();
  }

  /// Returns LogWriter::Dropped().
  [[nodiscard]] auto Dropped() const noexcept -> std::uint64_t { return writer_.Dropped(); }

 private:
  LogWriter writer_;
  LogLevel level_before_;
};

}  // namespace TURTLE_SERVER
