// Writes log lines to a file or to a descriptor, on a thread of its own if that is wanted.
//
// With a thread, the caller puts its lines into a queue and goes on. A slow disk, or a stalled
// reader of stderr, makes only that thread wait. The queue is bounded. WhenFull chooses what
// happens when it is full: the oldest lines are dropped and counted, or the caller waits. Nobody
// waits forever: a reader that has taken nothing for LogWriterOptions::patience is given up.
//
// Interface:
//  * Write() takes lines.
//  * Reopen() follows a file that was moved.
//  * The destructor writes what is left; a reader who has stopped reading gets that patience once
//    more.
//
// Thread: any, but the destructor when nobody else writes any more.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "base/condition.h"
#include "base/mutex.h"
#include "log/line_pipe.h"
#include "log/log_file.h"

namespace TURTLE_SERVER {

/// What happens to a line when the queue has no place for it.
enum class WhenFull : std::uint8_t {
  kDrop,  ///< The oldest in the queue goes, and is counted.
  kBlock  ///< The caller waits, as long as the queue moves. Once nothing has left it for
          ///< LogWriterOptions::patience it is as with kDrop, until something does.
};

/// Returns the descriptor of a LogWriterOptions::file that is not to be opened: "" and /dev/stderr
/// are standard error; "-" and /dev/stdout, standard output; so is any other name of a
/// pipe, socket or device that one of them is open for. Under systemd these are sockets, which
/// open(2) refuses, and where they are files, a second opening has another place in them. They are
/// neither rolled nor reopened.
[[nodiscard]] auto DescriptorOf(const std::string& file) noexcept -> std::optional<int>;

/// Who writes.
enum class WriteBy : std::uint8_t {
  kCaller,  ///< The caller, at once. stderr is not waited for: lines are dropped.
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
  std::chrono::seconds flush_interval{3};    ///< How long a file may lag; 0: never flushed.
  WriteBy by = WriteBy::kCaller;             ///< Who writes.
  std::size_t queue_size = 8192;             ///< WriteBy::kThread: calls of Write(), 1 or more.
  WhenFull when_full = WhenFull::kDrop;      ///< WriteBy::kThread.
  std::chrono::milliseconds patience{1000};  ///< With a reader that has stopped reading.
  ErrorSink error_sink = nullptr;            ///< Reports the errors of a file.
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

  /// Entries of the queue that were dropped so far, each of them one call of Write().
  [[nodiscard]] auto Dropped() const noexcept -> std::uint64_t;

  /// Lines that were left out so far, because the queue was full or a reader did not read: those
  /// of the queue are counted when the next entry leaves it. Any thread.
  [[nodiscard]] auto DroppedLines() const noexcept -> std::uint64_t {
    return dropped_.load(std::memory_order_relaxed);
  }

 private:
  using Clock = std::chrono::steady_clock;

  // One call of Write(), in the queue.
  struct Entry {
    std::string lines;
    Urgency urgency;
    std::uint64_t count;   // lines in it
    std::uint64_t number;  // how many lines were posted, up to the last of these
  };

  [[nodiscard]] auto HasFile() const noexcept -> bool { return !descriptor_; }
  [[nodiscard]] auto Flushes() const noexcept -> bool;

  void Post(std::string_view lines, Urgency urgency) noexcept;
  void AwaitPlace(Clock::time_point end) TURTLE_REQUIRES(mutex_);
  void AwaitWritten(std::uint64_t number, Clock::time_point end) noexcept;

  void Run() noexcept;
  void EndThread() noexcept;
  auto AwaitWork(Clock::time_point flush_at) noexcept -> bool;
  void WriteNext() noexcept;

  void WriteOut(std::string_view lines, Urgency urgency, std::uint64_t dropped) noexcept;
  void WriteToFile(std::string_view lines, std::uint64_t dropped, bool now) noexcept;
  void WriteToPipe(std::string_view lines, bool may_wait) noexcept;
  void WritePiece(std::string_view piece, bool may_wait, Clock::time_point last) noexcept;

  const LogWriterOptions options_;
  const std::optional<int> descriptor_;  // none: a file
  LinePipe pipe_;
  Mutex file_mutex_;
  std::optional<LogFile> file_ TURTLE_GUARDED_BY(file_mutex_);
  std::atomic<bool> reopen_{false};
  std::atomic<std::uint64_t> dropped_{0};  // lines
  std::atomic<Clock::rep> end_;            // nobody is waited for after it

  mutable Mutex mutex_;
  Condition arrived_;  // an entry is in the queue, or the end has come
  Condition moved_;    // an entry has left the queue, or was written
  // A list: an entry is made and destroyed outside the lock, and only linked under it.
  std::list<Entry> queue_ TURTLE_GUARDED_BY(mutex_);
  std::uint64_t posted_ TURTLE_GUARDED_BY(mutex_) = 0;   // number of the last entry posted
  std::uint64_t written_ TURTLE_GUARDED_BY(mutex_) = 0;  // number of the last entry written
  std::uint64_t entries_dropped_ TURTLE_GUARDED_BY(mutex_) = 0;
  Clock::time_point moved_at_ TURTLE_GUARDED_BY(mutex_){};  // when an entry last left the queue
  bool ends_ TURTLE_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // writes what is queued, and flushes the file
};

}  // namespace TURTLE_SERVER
