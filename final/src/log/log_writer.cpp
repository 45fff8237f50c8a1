#include "log/log_writer.h"

#include <fcntl.h>
#include <spdlog/async_logger.h>
#include <spdlog/details/periodic_worker.h>
#include <spdlog/details/thread_pool.h>
#include <spdlog/sinks/sink.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <exception>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

#include "base/condition.h"
#include "base/mutex.h"
#include "log/line_pipe.h"
#include "log/log_line.h"

namespace TURTLE_SERVER {

namespace {

using Clock = std::chrono::steady_clock;
using Queue = spdlog::details::thread_pool;  // and the thread that empties it

constexpr auto kLook = std::chrono::milliseconds(50);  // how often to see whether patience is over

auto LevelOf(Urgency urgency) noexcept -> spdlog::level::level_enum {
  return urgency == Urgency::kLater ? spdlog::level::info
         : urgency == Urgency::kNow ? spdlog::level::err
                                    : spdlog::level::critical;
}

auto UrgencyOf(spdlog::level::level_enum level) noexcept -> Urgency {
  return level == spdlog::level::info  ? Urgency::kLater
         : level == spdlog::level::err ? Urgency::kNow
                                       : Urgency::kWait;
}

void RequireOpen(int descriptor, const std::string& file) {
  if (!file.empty() && fcntl(descriptor, F_GETFD) < 0) {
    throw std::system_error(errno, std::generic_category(), "log file " + file);
  }
}

// Is `descriptor` open for what `status` describes?
auto IsOpenFor(int descriptor, const struct stat& status) noexcept -> bool {
  struct stat own {};
  return fstat(descriptor, &own) == 0 && own.st_dev == status.st_dev && own.st_ino == status.st_ino;
}

}  // namespace

auto DescriptorOf(const std::string& file) noexcept -> std::optional<int> {
  if (file.empty() || file == "/dev/stderr" || file == "/dev/fd/2" || file == "/proc/self/fd/2") {
    return STDERR_FILENO;
  }
  if (file == "-" || file == "/dev/stdout" || file == "/dev/fd/1" || file == "/proc/self/fd/1") {
    return STDOUT_FILENO;
  }
  struct stat status {};
  if (stat(file.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    for (const int descriptor : {STDOUT_FILENO, STDERR_FILENO}) {
      if (IsOpenFor(descriptor, status)) {
        return descriptor;
      }
    }
  }
  return std::nullopt;
}

// The end of the way. spdlog calls log() with each entry of its queue. It carries a level with it,
// which is our urgency, and a time. Our lines have their own, so the entry's number travels there:
// how many lines were handed in up to its last one. Where the numbers jump, lines were dropped, and
// whoever waits for a line waits for its number.
class LogWriter::Sink : public spdlog::sinks::sink {
 public:
  explicit Sink(const LogWriterOptions& options)
      : by_thread_(options.by == WriteBy::kThread),
        descriptor_(DescriptorOf(options.file)),
        blocks_(options.when_full == WhenFull::kBlock),
        queue_size_(options.queue_size),
        patience_(options.patience),
        pipe_(descriptor_.value_or(STDERR_FILENO), options.troubles) {
    if (descriptor_) {
      RequireOpen(*descriptor_, options.file);
    } else {
      file_.emplace(options.file, options.roll_size, options.troubles);
    }
  }

  [[nodiscard]] auto HasFile() const noexcept -> bool { return !descriptor_; }

  // Puts lines into the queue, in the order of their numbers, and waits for them if that is wanted.
  void Post(std::string_view lines, Urgency urgency, spdlog::logger& logger,
            Queue& queue) noexcept {
    const bool waits = urgency == Urgency::kWait;
    const auto end = waits ? Clock::now() + patience_ : Clock::time_point::max();
    const MutexLock lock(mutex_);
    if (blocks_) {
      AwaitPlace(queue, end);
    }
    posted_ += CountLines(lines);
    const std::uint64_t number = posted_;
    try {
      logger.log(spdlog::log_clock::time_point(spdlog::log_clock::duration(number)), {},
                 LevelOf(urgency), spdlog::string_view_t(lines.data(), lines.size()));
    } catch (const std::exception&) {
      return;  // no memory for a copy: their numbers are missing, and that is told
    }
    while (waits && written_ < number && Clock::now() < end) {
      changed_.WaitUntil(mutex_, end);
    }
  }

  void log(const spdlog::details::log_msg& message) override {
    const std::string_view lines(message.payload.data(), message.payload.size());
    const auto number = static_cast<std::uint64_t>(message.time.time_since_epoch().count());
    Write(lines, UrgencyOf(message.level), TakeDropped(number - CountLines(lines)));
    const MutexLock lock(mutex_);
    written_ = number;
    changed_.NotifyAll();
  }

  // `dropped` lines should stand before these.
  void Write(std::string_view lines, Urgency urgency, std::uint64_t dropped) noexcept {
    dropped_.fetch_add(dropped, std::memory_order_relaxed);
    if (HasFile()) {
      WriteToFile(lines, dropped, urgency != Urgency::kLater);
    } else {
      pipe_.CountLost(dropped);
      WriteToPipe(lines, by_thread_ || urgency == Urgency::kWait);
    }
  }

  void flush() override {
    if (HasFile()) {
      WriteToFile({}, 0, true);
    }
  }

  void set_pattern(const std::string& /*pattern*/) override {}  // lines come finished
  void set_formatter(std::unique_ptr<spdlog::formatter> /*formatter*/) override {}

  [[nodiscard]] auto DroppedLines() const noexcept -> std::uint64_t {
    return dropped_.load(std::memory_order_relaxed);
  }

  void WantReopen() noexcept { reopen_.store(true, std::memory_order_relaxed); }

  // From now on nobody is waited for longer than the patience in all.
  void BeginEnd() noexcept { end_.store((Clock::now() + patience_).time_since_epoch().count()); }

  // The queue is empty, and its thread has gone.
  void End() noexcept {
    std::uint64_t posted = 0;
    {
      const MutexLock lock(mutex_);
      posted = posted_;
    }
    Write({}, Urgency::kNow, TakeDropped(posted));
  }

 private:
  // Until the queue has a place, or has not moved for as long as the patience lasts.
  void AwaitPlace(Queue& queue, Clock::time_point end) TURTLE_REQUIRES(mutex_) {
    if (queue.queue_size() == 0) {
      moved_ = Clock::now();
    }
    while (queue.queue_size() >= queue_size_ && Clock::now() < std::min(moved_ + patience_, end)) {
      changed_.WaitUntil(mutex_, std::min(moved_ + patience_, end));
    }
  }

  // An entry has left the queue, behind `number` lines. How many of those have not?
  auto TakeDropped(std::uint64_t number) noexcept -> std::uint64_t {
    const MutexLock lock(mutex_);
    moved_ = Clock::now();
    changed_.NotifyAll();
    return number - written_;
  }

  void WriteToFile(std::string_view lines, std::uint64_t dropped, bool now) noexcept {
    const MutexLock lock(file_mutex_);
    if (reopen_.exchange(false, std::memory_order_relaxed)) {
      file_->Reopen();
    }
    file_->CountLost(dropped);
    file_->Append(lines);
    if (now) {
      file_->Flush();
    }
  }

  // Piece by piece, at line ends, so that lines of different threads don't mix.
  void WriteToPipe(std::string_view lines, bool may_wait) noexcept {
    const auto last = by_thread_ ? Clock::time_point::max() : Clock::now() + patience_;
    while (!lines.empty()) {
      std::string_view piece = lines.substr(0, LinePipe::kMaxPiece);
      const std::size_t end = piece.rfind('\n');
      if (piece.size() < lines.size() && end != std::string_view::npos) {
        piece = piece.substr(0, end + 1);
      }
      lines.remove_prefix(piece.size());
      WritePiece(piece, may_wait, last);
    }
  }

  void WritePiece(std::string_view piece, bool may_wait, Clock::time_point last) noexcept {
    while (!pipe_.TryWrite(piece)) {
      const Clock::time_point end{Clock::duration(end_.load())};
      if (!may_wait || Clock::now() >= std::min(last, end)) {
        pipe_.CountLost(CountLines(piece));
        dropped_.fetch_add(CountLines(piece), std::memory_order_relaxed);
        return;
      }
      pipe_.AwaitRoom(kLook);
    }
  }

  const bool by_thread_;
  const std::optional<int> descriptor_;
  const bool blocks_;
  const std::size_t queue_size_;
  const std::chrono::milliseconds patience_;
  LinePipe pipe_;
  Mutex file_mutex_;
  std::optional<LogFile> file_ TURTLE_GUARDED_BY(file_mutex_);
  Mutex mutex_;
  Condition changed_;
  std::uint64_t posted_ TURTLE_GUARDED_BY(mutex_) = 0;   // the number of the last entry that came
  std::uint64_t written_ TURTLE_GUARDED_BY(mutex_) = 0;  // of the last that was written
  Clock::time_point moved_ TURTLE_GUARDED_BY(mutex_){};  // when the last has left the queue
  std::atomic<bool> reopen_{false};
  std::atomic<std::uint64_t> dropped_{0};  // lines
  std::atomic<Clock::rep> end_{Clock::time_point::max().time_since_epoch().count()};
};

struct LogWriter::Machinery {
  std::shared_ptr<Queue> queue;
  std::shared_ptr<spdlog::logger> logger;
  std::unique_ptr<spdlog::details::periodic_worker> flusher;
};

LogWriter::LogWriter(const LogWriterOptions& options)
    : sink_(std::make_shared<Sink>(options)), machinery_(std::make_unique<Machinery>()) {
  if (options.by == WriteBy::kThread) {
    machinery_->queue = std::make_shared<Queue>(options.queue_size, 1U);
    machinery_->logger = std::make_shared<spdlog::async_logger>(
        "turtle", sink_, machinery_->queue, spdlog::async_overflow_policy::overrun_oldest);
    // Some versions throw what goes wrong; others write it to stderr, and wait for its reader.
    machinery_->logger->set_error_handler([](const std::string&) { throw std::bad_alloc(); });
  }
  if (sink_->HasFile() && options.flush_interval.count() > 0) {
    // Not by way of the queue: a flush is no reason to drop a line.
    machinery_->flusher = std::make_unique<spdlog::details::periodic_worker>(
        [sink = sink_] { sink->flush(); }, options.flush_interval);
  }
}

LogWriter::~LogWriter() {
  machinery_->flusher.reset();
  sink_->BeginEnd();
  machinery_->logger.reset();
  machinery_->queue.reset();  // waits until its thread has written what is there
  sink_->End();
}

void LogWriter::Write(std::string_view lines, Urgency urgency) noexcept {
  if (machinery_->queue) {
    sink_->Post(lines, urgency, *machinery_->logger, *machinery_->queue);
  } else {
    sink_->Write(lines, urgency, 0);
  }
}

void LogWriter::Reopen() noexcept { sink_->WantReopen(); }

auto LogWriter::DroppedLines() const noexcept -> std::uint64_t { return sink_->DroppedLines(); }

auto LogWriter::Dropped() const noexcept -> std::uint64_t {
  return machinery_->queue ? machinery_->queue->overrun_counter() : 0;
}

}  // namespace TURTLE_SERVER
