// Takes lines to where they belong, by a thread of its own if that is wanted.
//
// With a thread, whoever has a line puts it into a queue and goes on; the disk, or whoever reads
// stderr, makes only that thread wait. The queue is bounded. When it is full, either the oldest
// lines are dropped and counted, or the one who has a line waits: that is a choice, WhenFull.
// Nobody waits for ever: a reader who has taken nothing for LogWriterOptions::patience is given up.
//
// Queue, thread and the timer for flushing are spdlog's.
//
// Interface:
//  * Write() takes lines.
//  * Reopen() follows a file that was moved.
//  * The destructor writes what is left; a reader who has stopped reading gets that patience once
//    more.
//
// Thread: any, but the destructor when nobody else writes any more.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "log/log_file.h"

namespace TURTLE_SERVER {

/// What happens to a line when the queue has no place for it.
enum class WhenFull : std::uint8_t {
  kDrop,  ///< The oldest in the queue goes, and is counted.
  kBlock  ///< Whoever has the line waits, as long as the queue moves. Once nothing has left it for
          ///< LogWriterOptions::patience it is as with kDrop, until something does.
};

/// The descriptor that a LogWriterOptions::file means, if it is none to be opened: nothing and
/// /dev/stderr are standard error; "-" and /dev/stdout, standard output; so is any other name of a
/// pipe, socket or device that one of them is open for. Under systemd these are sockets, which
/// open(2) refuses, and where they are files, a second opening has another place in them. They are
/// neither rolled nor reopened.
[[nodiscard]] auto DescriptorOf(const std::string& file) noexcept -> std::optional<int>;

/// Who writes.
enum class WriteBy : std::uint8_t {
  kCaller,  ///< Whoever has the line, at once. stderr is not waited for: lines are dropped.
  kThread   ///< A thread of the writer's own, from a queue.
};

/// How long lines may take to reach a file. stderr has no "later".
enum class Urgency : std::uint8_t {
  kLater,  ///< Until the next flush.
  kNow,    ///< As soon as it is their turn.
  kWait    ///< The call returns when they are written, or after LogWriterOptions::patience.
};

/// Where lines go, and how.
struct LogWriterOptions {
  std::string file{};                                 ///< Path, or as DescriptorOf() has it.
  std::uint64_t roll_size = std::uint64_t{64} << 20;  ///< Bytes of a file; 0: never rolled.
  std::chrono::seconds flush_interval{3};             ///< So long a file may lag behind; 0: never.
  WriteBy by = WriteBy::kCaller;                      ///< Who writes.
  std::size_t queue_size = 8192;             ///< WriteBy::kThread: calls of Write(), 1 or more.
  WhenFull when_full = WhenFull::kDrop;      ///< WriteBy::kThread.
  std::chrono::milliseconds patience{1000};  ///< With a reader who has stopped reading.
  Troubles troubles = Troubles::kBetweenTheLines;  ///< Where those of a file are told.
};

/// Writes lines to a file or to stderr.
class LogWriter {
 public:
  /// Opens the file and starts the thread, if there are to be such.
  /// @throws std::system_error, which names the file, or a descriptor that is not open
  explicit LogWriter(const LogWriterOptions& options);

  ~LogWriter();

  LogWriter(const LogWriter&) = delete;
  auto operator=(const LogWriter&) -> LogWriter& = delete;

  /// Takes one or more whole lines, and copies them. Never throws: without memory for them they
  /// are lost, and counted as such.
  void Write(std::string_view lines, Urgency urgency = Urgency::kLater) noexcept;

  /// Has the file opened anew before the next lines, when somebody has moved it. Without a file it
  /// does nothing. Async-signal-safe.
  void Reopen() noexcept;

  /// Lines that were left out so far, because the queue was full or a reader did not read: those
  /// of the queue are counted when the next entry leaves it. Any thread.
  [[nodiscard]] auto DroppedLines() const noexcept -> std::uint64_t;

  /// Entries of the queue that were dropped so far, each of them one call of Write().
  [[nodiscard]] auto Dropped() const noexcept -> std::uint64_t;

 private:
  class Sink;
  struct Machinery;

  std::shared_ptr<Sink> sink_;
  std::unique_ptr<Machinery> machinery_;
};

}  // namespace TURTLE_SERVER
