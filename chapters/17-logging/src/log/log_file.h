// A log file that is rolled when it is large, and reopened after it was moved.
//
// Interface:
//  * Append() adds lines; they reach the file with Flush(), or when enough have been gathered.
//  * Reopen() follows a file that logrotate(8) has renamed: it starts a new one.
//
// A file of `roll_size` bytes is renamed with the time in its name,
// turtle.2026-01-31T23-59-59.123456Z.log, and a new turtle.log begins. No file is ever removed.
// Before it rolls, the size of the file is read again, because others may have changed it.
//
// Lines that the file does not take (the disk is full, the FIFO has no reader) are lost and
// counted. A line in the file reports the loss once there is room again. If the file has its own
// format, an ErrorSink reports it.
//
// Thread: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/unique_fd.h"
#include "log/log_line.h"

namespace TURTLE_SERVER {

/// A log file with its pending lines.
class LogFile {
 public:
  /// Opens or creates the file, for appending, with mode 0640 (less the umask).
  /// @param path of the file, in an existing directory. A FIFO or a device is possible: it is never
  ///     rolled, and lines that it does not take at once are lost.
  /// @param roll_size in bytes; 0: never
  /// @param error_sink reports errors
  /// @throws std::system_error, which names the path
  LogFile(std::string path, std::uint64_t roll_size, ErrorSink error_sink = nullptr);

  /// Flushes. Losses that have not been reported by then are never reported.
  ~LogFile();

  LogFile(const LogFile&) = delete;
  auto operator=(const LogFile&) -> LogFile& = delete;

  /// Adds whole lines.
  void Append(std::string_view lines) noexcept;

  /// Writes the gathered lines by write(2), without fsync(2): the kernel keeps them even if the
  /// program dies. Never raises SIGPIPE. A line that was cut counts as lost, and its first part is
  /// ended before anything else is written.
  void Flush() noexcept;

  /// Opens the path again. If that fails, the error is reported once, and the old file is kept;
  /// each Append() tries again.
  void Reopen() noexcept;

  /// Counts `lines` more as not written.
  void CountLost(std::uint64_t lines) noexcept { lost_ += lines; }

 private:
  auto Open() noexcept -> bool;
  void AskSize() noexcept;
  auto IsFull(std::uint64_t more) const noexcept -> bool;
  auto WriteOut(std::string_view bytes) noexcept -> std::size_t;
  void WriteLines(std::string_view lines) noexcept;
  void Roll() noexcept;
  void OpenNewFile(std::string_view what) noexcept;
  void Complain(std::string_view what, int error) noexcept;

  const std::string path_;
  const std::uint64_t roll_size_;
  const ErrorSink error_sink_;
  UniqueFd file_;
  bool is_regular_ = false;
  bool rolls_ = false;
  bool stale_ = false;      // moved away, but a new one could not be opened yet
  bool torn_ = false;       // the file ends in the middle of a line
  std::uint64_t size_ = 0;  // of the file, as last reported by the kernel
  std::uint64_t kept_ = 0;  // its size when it last failed to roll
  std::string pending_;     // its memory is reserved from the beginning
  std::uint64_t lost_ = 0;
};

}  // namespace TURTLE_SERVER
