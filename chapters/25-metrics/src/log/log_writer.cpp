#include "log/log_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <system_error>

#include "log/log_line.h"

namespace TURTLE_SERVER {

namespace {

constexpr auto kLook = std::chrono::milliseconds(50);  // how often patience is checked

void RequireOpen(int descriptor, const std::string& file) {
  if (!file.empty() && fcntl(descriptor, F_GETFD) < 0) {
    throw std::system_error(errno, std::generic_category(), "log file " + file);
  }
}

// Returns true if `descriptor` has the object open that `status` describes.
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

LogWriter::LogWriter(const LogWriterOptions& options)
    : options_(options),
      descriptor_(DescriptorOf(options.file)),
      pipe_(descriptor_.value_or(STDERR_FILENO), options.error_sink),
      end_(Clock::time_point::max().time_since_epoch().count()) {
  if (descriptor_) {
    RequireOpen(*descriptor_, options.file);
  } else {
    file_.emplace(options.file, options.roll_size, options.error_sink);
  }
  if (options.by == WriteBy::kThread || Flushes()) {
    thread_ = std::thread([this] { Run(); });
  }
}

LogWriter::~LogWriter() {
  end_.store((Clock::now() + options_.patience).time_since_epoch().count());
  EndThread();
  WriteOut({}, Urgency::kNow, posted_ - written_);  // what was dropped last, and the file's rest
}

void LogWriter::Write(std::string_view lines, Urgency urgency) noexcept {
  if (options_.by == WriteBy::kThread) {
    Post(lines, urgency);
  } else {
    WriteOut(lines, urgency, 0);
  }
}

void LogWriter::Reopen() noexcept { reopen_.store(true, std::memory_order_relaxed); }

auto LogWriter::Dropped() const noexcept -> std::uint64_t {
  const MutexLock lock(mutex_);
  return entries_dropped_;
}

// Only a file is flushed later.
auto LogWriter::Flushes() const noexcept -> bool {
  return HasFile() && options_.flush_interval.count() > 0;
}

// Puts lines into the queue, in the order of their numbers, and waits for them if wanted.
void LogWriter::Post(std::string_view lines, Urgency urgency) noexcept {
  const std::uint64_t count = CountLines(lines);
  const bool waits = urgency == Urgency::kWait;
  const auto end = waits ? Clock::now() + options_.patience : Clock::time_point::max();
  std::list<Entry> entry;
  try {
    entry.push_back({std::string(lines), urgency, count, 0});
  } catch (const std::bad_alloc&) {  // the numbering shows that they are missing
  }
  std::list<Entry> dropped;
  std::uint64_t number = 0;
  {
    const MutexLock lock(mutex_);
    if (options_.when_full == WhenFull::kBlock) {
      AwaitPlace(end);
    }
    posted_ += count;
    number = posted_;
    if (entry.empty()) {
      return;
    }
    entry.front().number = number;
    if (!queue_.empty() && queue_.size() >= options_.queue_size) {
      dropped.splice(dropped.end(), queue_, queue_.begin());
      ++entries_dropped_;
    }
    queue_.splice(queue_.end(), entry);
  }
  arrived_.NotifyOne();  // not under the lock, or the thread would wake only to wait for it
  if (waits) {
    AwaitWritten(number, end);
  }
}

// Waits until the queue has a place, or has not moved for as long as the patience lasts.
void LogWriter::AwaitPlace(Clock::time_point end) {
  if (queue_.empty()) {
    moved_at_ = Clock::now();
  }
  while (queue_.size() >= options_.queue_size &&
         Clock::now() < std::min(moved_at_ + options_.patience, end)) {
    moved_.WaitUntil(mutex_, std::min(moved_at_ + options_.patience, end));
  }
}

void LogWriter::AwaitWritten(std::uint64_t number, Clock::time_point end) noexcept {
  const MutexLock lock(mutex_);
  while (written_ < number && Clock::now() < end) {
    moved_.WaitUntil(mutex_, end);
  }
}

void LogWriter::Run() noexcept {
  const auto next_flush = [this] {
    return Flushes() ? Clock::now() + options_.flush_interval : Clock::time_point::max();
  };
  auto flush_at = next_flush();
  while (AwaitWork(flush_at)) {
    WriteNext();
    if (Clock::now() >= flush_at) {
      WriteToFile({}, 0, true);
      flush_at = next_flush();
    }
  }
}

// Lets the thread write what is in the queue, and waits for that.
void LogWriter::EndThread() noexcept {
  {
    const MutexLock lock(mutex_);
    ends_ = true;
  }
  arrived_.NotifyOne();
  if (thread_.joinable()) {
    thread_.join();
  }
}

// Returns false if the queue is empty and the writer ends.
auto LogWriter::AwaitWork(Clock::time_point flush_at) noexcept -> bool {
  const MutexLock lock(mutex_);
  while (queue_.empty() && !ends_ && Clock::now() < flush_at) {
    // Some libraries convert the time to another clock, where time_point::max() would overflow.
    Flushes() ? arrived_.WaitUntil(mutex_, flush_at) : arrived_.Wait(mutex_);
  }
  return !queue_.empty() || !ends_;
}

void LogWriter::WriteNext() noexcept {
  std::list<Entry> next;
  std::uint64_t dropped = 0;
  {
    const MutexLock lock(mutex_);
    if (queue_.empty()) {
      return;
    }
    next.splice(next.end(), queue_, queue_.begin());
    dropped = next.front().number - next.front().count - written_;
    moved_at_ = Clock::now();
  }
  moved_.NotifyAll();
  WriteOut(next.front().lines, next.front().urgency, dropped);
  {
    const MutexLock lock(mutex_);
    written_ = next.front().number;
  }
  moved_.NotifyAll();
}

// Writes these lines; `dropped` others should precede them.
void LogWriter::WriteOut(std::string_view lines, Urgency urgency, std::uint64_t dropped) noexcept {
  dropped_.fetch_add(dropped, std::memory_order_relaxed);
  if (HasFile()) {
    WriteToFile(lines, dropped, urgency != Urgency::kLater);
  } else {
    pipe_.CountLost(dropped);
    WriteToPipe(lines, options_.by == WriteBy::kThread || urgency == Urgency::kWait);
  }
}

void LogWriter::WriteToFile(std::string_view lines, std::uint64_t dropped, bool now) noexcept {
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

// Writes piece by piece, at line ends, so lines of different threads don't mix.
void LogWriter::WriteToPipe(std::string_view lines, bool may_wait) noexcept {
  const auto last =
      options_.by == WriteBy::kThread ? Clock::time_point::max() : Clock::now() + options_.patience;
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

void LogWriter::WritePiece(std::string_view piece, bool may_wait, Clock::time_point last) noexcept {
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

}  // namespace TURTLE_SERVER
