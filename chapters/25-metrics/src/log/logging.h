// Where the program's log goes, for as long as this object lives.
//
//   Logging logging(options);   // first thing in main(): Log() goes to a file from here on
//
// Interface:
//  * Logging takes the lines of Log() over, and gives them back to stderr at its end.
//  * SetLevel() has more or less of it logged.
//  * Reopen() follows a file that logrotate(8) has renamed.
//
// Thread: made and destroyed while no other thread logs; the rest from any.
#pragma once

#include <cstdint>
#include <optional>

#include "log/log_level.h"
#include "log/log_writer.h"

namespace TURTLE_SERVER {

/// The level of the log, and its place.
struct LoggingOptions {
  std::optional<LogLevel>
      level{};                ///< Lines below it are left out; nullopt: MIN_LOG_LEVEL decides.
  LogWriterOptions writer{};  ///< Where lines go.
};

/// Takes the lines of Log().
class Logging {
 public:
  /// @throws std::system_error, which names the file, if it can't be opened
  /// @throws std::logic_error if there is a Logging already
  explicit Logging(const LoggingOptions& options);

  /// All lines are written, but for those that a stalled reader of stderr does not take within
  /// LogWriterOptions::patience.
  ~Logging();

  Logging(const Logging&) = delete;
  auto operator=(const Logging&) -> Logging& = delete;

  /// Logs from `level` on from now on; nullopt: from what it was before this object, which is what
  /// MIN_LOG_LEVEL said.
  void SetLevel(std::optional<LogLevel> level) noexcept;

  /// As LogWriter::Reopen(). Async-signal-safe.
  void Reopen() noexcept { writer_.Reopen(); }

  /// As LogWriter::DroppedLines().
  [[nodiscard]] auto DroppedLines() const noexcept -> std::uint64_t {
    return writer_.DroppedLines();
  }

  /// As LogWriter::Dropped().
  [[nodiscard]] auto Dropped() const noexcept -> std::uint64_t { return writer_.Dropped(); }

 private:
  LogWriter writer_;
  LogLevel level_before_;
};

}  // namespace TURTLE_SERVER
