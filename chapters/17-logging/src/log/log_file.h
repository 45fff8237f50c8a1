// A file that lines are added to: rolled when it is large, reopened when somebody has moved it.
//
// Interface:
//  * Append() adds lines; they reach the file with Flush(), or when enough have come together.
//  * Reopen() follows a file that logrotate(8) has renamed: the old one is closed, a new one made.
//
// A file of `roll_size` bytes gets the time into its name, turtle.2026-01-31T23-59-59.123456Z.log,
// and a new turtle.log begins. No file is ever removed. Before it rolls, the file is asked for its
// size, which others may have changed.
//
// Lines that the file does not take (the disk is full, nobody reads the FIFO) are lost and counted.
// A line in the file reports the loss once there is room again; or an ErrorSink does, where a file
// has its own format.
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

/// A log file.
class LogFile {
 public:
  /// Opens or makes the file, for appending, with mode 0640 (less the umask).
  /// @param path of the file; its directory must be there. A FIFO or a device will do: it is never
  ///     rolled, and lines that it does not take at once are lost.
  /// @param roll_size in bytes; 0: never
  /// @param error_sink reports errors
  /// @throws std::system_error, which names the path
  LogFile(std::string path, std::uint64_t roll_size, ErrorSink error_sink = nullptr);

  /// Flushes. Losses that have not been reported by then never are.
  ~LogFile();

  LogFile(const LogFile&) = delete;
  auto operator=(const LogFile&) -> LogFile& = delete;

  /// Adds whole lines.
  void Append(std::string_view lines) noexcept;

  /// Adds what has come together, by write(2). Not by fsync(2): the kernel has it then, and keeps
  /// it when the program dies. Never a SIGPIPE. Of a line that was cut the rest is missing: it
  /// counts as lost, and its half is ended before anything else is written.
  void Flush() noexcept;

  /// Opens the path again. If that is not possible this is told, once, and the old file is kept;
  /// each Append() tries again.
  void Reopen() noexcept;

  /// `lines` more were not written.
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
  bool stale_ = false;      // moved away, and there was no new one yet
  bool torn_ = false;       // the file ends in half a line
  std::uint64_t size_ = 0;  // of the file, when the kernel was last asked
  std::uint64_t kept_ = 0;  // so much of it could not be rolled away
  std::string pending_;     // has its memory from the beginning
  std::uint64_t lost_ = 0;
};

}  // namespace TURTLE_SERVER
