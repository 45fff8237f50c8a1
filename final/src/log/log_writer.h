// Writes log lines to a file or to a descriptor, optionally on its own thread.
//
// With a thread, the caller puts its lines into a queue and continues. A slow disk, or a stalled
// reader of stderr, only makes that thread wait. The queue is bounded, and WhenFull decides what
// happens when it is full: the oldest lines are dropped and counted, or the caller waits. No caller
// waits forever: a reader that takes nothing for LogWriterOptions::patience is given up.
//
// Interface:
//  * Write() takes lines.
//  * Reopen() follows a file that was moved.
//  * The destructor writes the rest; a stalled reader gets that patience once more.
//
// Thread: any, except for the destructor, which must run when no other thread writes.
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

/// What happens to a line when the queue is full.
enum class WhenFull : std::uint8_t {
  kDrop,  ///< The oldest line in the queue is dropped and counted.
  kBlock  ///< The caller waits, as long as the queue moves. If it has not moved for
          ///< LogWriterOptions::patience, lines are dropped as with kDrop, until it does.
};

/// Returns the descriptor of a LogWriterOptions::file that must not be opened. "" and
/// /dev/stderr are standard error; "-" and /dev/stdout are standard output; so is any other name
/// of a pipe, socket or device that one of them has open. Under systemd these are sockets, which
/// open(2) refuses; a file opened twice would have two positions. They are neither rolled nor
/// reopened.
[[nodiscard]] auto DescriptorOf(const std::string& file) noexcept -> std::optional<int>;

/// Which thread writes.
enum class WriteBy : std::uint8_t {
  kCaller,  ///< The caller, at once. It does not wait for stderr: lines are dropped.
  kThread   ///< The writer's own thread, from a queue.
};

/// How long lines may take to reach a file. stderr always gets them at once.
enum class Urgency : std::uint8_t {
  kLater,  ///< Until the next flush.
  kNow,    ///< As soon as possible.
  kWait    ///< The call returns when they are written, or after LogWriterOptions::patience.
};

/// The destination of lines, and how they get there.
struct LogWriterOptions {
  std::string file{};                                 ///< Path, or a name for DescriptorOf().
  std::uint64_t roll_size = std::uint64_t{64} << 20;  ///< Bytes of a file; 0: never rolled.
  std::chrono::seconds flush_interval{3};    ///< How long a file may lag; 0: never flushed.
  WriteBy by = WriteBy::kCaller;             ///< Which thread writes.
  std::size_t queue_size = 8192;             ///< WriteBy::kThread: calls of Write(), 1 or more.
  WhenFull when_full = WhenFull::kDrop;      ///< WriteBy::kThread.
  std::chrono::milliseconds patience{1000};  ///< With a stalled reader.
  ErrorSink error_sink = nullptr;            ///< Reports the errors of a file.
};

/// Writes lines to a file or to stderr.
class LogWriter {
 public:
  /// Opens the file and starts the thread, if the options ask for them.
  /// @throws std::system_error, which names the file, or a descriptor that is not open
  explicit LogWriter(const LogWriterOptions& options);

  ~LogWriter();

  LogWriter(const LogWriter&) = delete;
  auto operator=(const LogWriter&) -> LogWriter& = delete;

  /// Takes one or more whole lines, and copies them. Never throws: if there is no memory for them,
  /// they are lost and counted.
  void Write(std::string_view lines, Urgency urgency = Urgency::kLater) noexcept;

  /// Reopens the file before the next lines if it was moved. Without a file it does nothing.
  /// Async-signal-safe.
  void Reopen() noexcept;

  /// Returns how many entries of the queue were dropped so far, each of them one call of Write().
  [[nodiscard]] auto Dropped() const noexcept -> std::uint64_t;

  /// Returns how many lines were dropped so far, because the queue was full or a reader had
  /// stalled. Those of the queue are counted when the next entry leaves it. Any thread.
  [[nodiscard]] auto DroppedLines() const noexcept -> std::uint64_t {
    return dropped_.load(std::memory_order_relaxed);
  }

 private:
  using Clock = std::chrono::steady_clock;

  // One call of Write() in the queue.
  struct Entry {
    std::string lines;
    Urgency urgency;
    std::uint64_t count;   // lines in it
    std::uint64_t number;  // how many lines were posted, including these
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
  std::atomic<Clock::rep> end_;            // no wait lasts longer than this

  mutable Mutex mutex_;
  Condition arrived_;  // an entry is in the queue, or the writer ends
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
