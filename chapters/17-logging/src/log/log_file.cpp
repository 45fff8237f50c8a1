#include "log/log_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <exception>
#include <system_error>
#include <utility>

#include "base/sigpipe_block.h"
#include "log/log_line.h"

namespace TURTLE_SERVER {

namespace {

constexpr std::size_t kMaxPending = std::size_t{64} * 1024;

// Turns turtle.log into turtle.2026-01-31T23-59-59.123456Z.log. With microseconds no two names are
// equal, and they sort by time.
auto RolledName(const std::string& path) -> std::string {
  using std::chrono::microseconds;
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  const auto micros = std::chrono::duration_cast<microseconds>(since_epoch).count();
  const auto seconds = static_cast<std::time_t>(micros / 1'000'000);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  std::array<char, 64> time{};
  const std::size_t length = std::strftime(time.data(), time.size(), ".%Y-%m-%dT%H-%M-%S", &utc);
  std::snprintf(time.data() + length, time.size() - length, ".%06dZ",
                static_cast<int>(micros % 1'000'000));
  const std::size_t name = path.rfind('/') + 1;  // npos + 1 is 0
  const std::size_t dot = path.rfind('.');
  const std::size_t at = dot == std::string::npos || dot <= name ? path.size() : dot;
  return path.substr(0, at) + time.data() + path.substr(at);
}

// Returns true if `path` names a file other than the open one.
auto MeansAnother(const std::string& path, int fd) noexcept -> bool {
  struct stat open_one {};
  struct stat named {};
  return fstat(fd, &open_one) == 0 && stat(path.c_str(), &named) == 0 &&
         (open_one.st_dev != named.st_dev || open_one.st_ino != named.st_ino);
}

}  // namespace

LogFile::LogFile(std::string path, std::uint64_t roll_size, ErrorSink error_sink)
    : path_(std::move(path)), roll_size_(roll_size), error_sink_(error_sink) {
  pending_.reserve(kMaxPending);
  if (path_.find('\0') != std::string::npos) {
    throw std::system_error(EINVAL, std::generic_category(),
                            "log file " + path_.substr(0, path_.find('\0')) + ", then a NUL byte");
  }
  if (!Open()) {
    throw std::system_error(errno, std::generic_category(), "log file " + path_);
  }
}

LogFile::~LogFile() { Flush(); }

// Opens the path. @return false, and errno; the open file is then kept.
auto LogFile::Open() noexcept -> bool {
  constexpr mode_t kMode = 0640;
  // O_NONBLOCK matters for special files: open(2) would wait for a FIFO's reader.
  constexpr int kFlags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  UniqueFd file(open(path_.c_str(), kFlags, kMode));
  struct stat status {};
  if (!file || fstat(file.Get(), &status) != 0) {
    return false;
  }
  if (S_ISDIR(status.st_mode)) {
    errno = EISDIR;
    return false;
  }
  file_ = std::move(file);
  size_ = static_cast<std::uint64_t>(status.st_size);
  kept_ = 0;
  is_regular_ = S_ISREG(status.st_mode);
  torn_ = torn_ && !(is_regular_ && size_ == 0);
  rolls_ = roll_size_ != 0 && is_regular_;  // /dev/stdout keeps its name
  return true;
}

// Reads the size, since others may have truncated the file (copytruncate of logrotate(8)) or added
// to it. Counting our own bytes would not show that.
void LogFile::AskSize() noexcept {
  struct stat status {};
  if (is_regular_ && fstat(file_.Get(), &status) == 0) {
    size_ = static_cast<std::uint64_t>(status.st_size);
    kept_ = std::min(kept_, size_);
    torn_ = torn_ && size_ != 0;
  }
}

// Returns true if the file is too large for `more` bytes.
auto LogFile::IsFull(std::uint64_t more) const noexcept -> bool {
  return size_ != kept_ && size_ - kept_ + more > roll_size_;
}

void LogFile::Append(std::string_view lines) noexcept {
  if (stale_) {
    stale_ = !Open();
  } else if (rolls_ && size_ - kept_ + pending_.size() + lines.size() > roll_size_) {
    Flush();
    AskSize();
    if (IsFull(lines.size())) {
      Roll();
    }
  }
  if (pending_.size() + lines.size() > kMaxPending) {
    Flush();
  }
  if (lines.size() > kMaxPending) {
    WriteLines(lines);
  } else {
    pending_.append(lines);  // within what was reserved
  }
}

void LogFile::Flush() noexcept {
  if (!pending_.empty() || lost_ != 0) {
    WriteLines(pending_);
    pending_.clear();
  }
}

// Writes lines; a loss is reported before the first line that gets through.
void LogFile::WriteLines(std::string_view lines) noexcept {
  if (lost_ != 0 && error_sink_ == nullptr) {
    const LogLine loss = LossLine(lost_);
    if (WriteOut(loss.View()) < loss.View().size()) {
      lost_ += CountLines(lines);
      return;
    }
    lost_ = 0;
  }
  const std::size_t written = WriteOut(lines);
  if (rolls_) {
    AskSize();  // once for each batch
  }
  if (lost_ != 0 && written == lines.size()) {
    std::array<char, LogLine::kMaxBytes> text{};
    std::snprintf(text.data(), text.size(), "log file: %llu lines are missing in %s",
                  static_cast<unsigned long long>(lost_), path_.c_str());
    error_sink_(LogLevel::kWarning, text.data());
    lost_ = 0;
  }
  lost_ += CountLines(lines.substr(written));
}

// @return how many of the bytes were written
auto LogFile::WriteOut(std::string_view bytes) noexcept -> std::size_t {
  if (torn_) {
    AskSize();  // the torn line may be gone
  }
  if (std::exchange(torn_, false) && WriteOut("\n") == 0) {
    torn_ = true;
    return 0;
  }
  std::size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t count = QuietWrite(file_.Get(), bytes.substr(written));
    if (count <= 0) {
      break;
    }
    written += static_cast<std::size_t>(count);
  }
  size_ += written;
  torn_ = written != 0 && bytes[written - 1] != '\n';
  return written;
}

void LogFile::Roll() noexcept try {
  // Another program has moved it if the name now means another file, or none (ENOENT).
  if (MeansAnother(path_, file_.Get()) || rename(path_.c_str(), RolledName(path_).c_str()) == 0 ||
      errno == ENOENT) {
    OpenNewFile("roll");
  } else {
    kept_ = size_;  // continues in the open file, and tries again after as many bytes
    Complain("roll", errno);
  }
} catch (const std::exception&) {
  kept_ = size_;  // out of memory for a name
}

void LogFile::Reopen() noexcept {
  Flush();
  OpenNewFile("reopen");
}

// Opens a new file. If that fails, the old one gets the lines until it succeeds.
void LogFile::OpenNewFile(std::string_view what) noexcept {
  stale_ = !Open();
  if (stale_) {
    Complain(what, errno);
  }
}

void LogFile::Complain(std::string_view what, int error) noexcept try {
  const std::string text = std::string("log file: ").append(what).append(" ").append(path_);
  const std::string trouble = text + ": " + std::generic_category().message(error);
  if (error_sink_ != nullptr) {
    error_sink_(LogLevel::kError, trouble);
  } else {
    pending_.append(LogLine(LogLevel::kError, trouble).View());
  }
} catch (const std::exception&) {
  lost_ += 1;
}

}  // namespace TURTLE_SERVER
