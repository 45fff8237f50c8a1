#include "app/pid_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "base/unique_fd.h"
#include "log/log.h"

namespace TURTLE_SERVER {

namespace {

constexpr std::size_t kMostBytes = 24;  // a number of 64 bits and a newline fit
constexpr int kFlags = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
constexpr pid_t kNobody = 0;  // no process has this number

auto ParseNumber(std::string_view text) noexcept -> std::optional<pid_t> {
  if (!text.empty() && text.back() == '\n') {
    text.remove_suffix(1);
  }
  pid_t number = kNobody;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (text.empty()) {
    return kNobody;  // emptied at the end of its process
  }
  return error == std::errc() && stop == end && number > 0 ? std::optional(number) : std::nullopt;
}

// Returns the number in an open file; nullopt: it has anything else.
auto NumberIn(int fd) noexcept -> std::optional<pid_t> {
  struct stat status {};
  std::array<char, kMostBytes> bytes{};
  if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
    return std::nullopt;
  }
  const ssize_t count = ::pread(fd, bytes.data(), bytes.size(), 0);
  if (count < 0 || static_cast<std::size_t>(count) == bytes.size()) {
    return std::nullopt;
  }
  return ParseNumber({bytes.data(), static_cast<std::size_t>(count)});
}

auto Runs(pid_t number) noexcept -> bool { return ::kill(number, 0) == 0 || errno == EPERM; }

auto Message(const std::string& path, const std::string& reason) -> std::string {
  return "pid_file: '" + path + "'" + (reason.empty() ? "" : ": " + reason);
}

// Locks the file, so that of two starters only one removes it. @return true if the name still means
// this file
auto IsStillThere(int file, const std::string& path) noexcept -> bool {
  struct stat opened {};
  struct stat named {};
  return ::flock(file, LOCK_EX) == 0 && ::fstat(file, &opened) == 0 &&
         ::lstat(path.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
         opened.st_dev == named.st_dev;
}

[[noreturn]] void ThrowErrno(const std::string& path) {
  throw std::system_error(errno, std::generic_category(), Message(path, ""));
}

}  // namespace

PidFile::~PidFile() {
  const UniqueFd file(path_.empty() ? -1 : ::open(path_.c_str(), O_RDONLY | kFlags));
  if (file && NumberIn(file.Get()) == number_ && ::unlink(path_.c_str()) != 0) {
    // The directory is root's, and this process is not root any more.
    const UniqueFd emptied(::open(path_.c_str(), O_WRONLY | O_TRUNC | kFlags));
  }
}

void PidFile::Write() { Replace(kNobody); }

void PidFile::TakeOver(pid_t predecessor) noexcept {
  try {
    const UniqueFd file(path_.empty() ? -1 : ::open(path_.c_str(), O_RDWR | kFlags));
    const std::optional<pid_t> number = file ? NumberIn(file.Get()) : std::nullopt;
    // In place: the file is there at any time, and the directory may be root's.
    if (!number || !MayReplace(*number, predecessor) || !Store(file.Get())) {
      Replace(predecessor);
    }
  } catch (...) {
    LogException("hand-over");
  }
}

void PidFile::Replace(pid_t predecessor) {
  if (path_.empty()) {
    return;
  }
  if (const std::size_t nul = path_.find('\0'); nul != std::string::npos) {
    throw std::invalid_argument(Message(path_.substr(0, nul), "a NUL byte follows"));
  }
  bool created = Create();
  if (!created && errno == EEXIST) {
    RemoveStale(predecessor);
    created = Create();
  }
  if (!created) {
    ThrowErrno(path_);
  }
}

// The name appears together with the number: another starter must not find an empty file, which
// belongs to no process. @return false and errno; EEXIST: the file is there
auto PidFile::Create() const noexcept -> bool try {
  constexpr mode_t kMode = 0644;
  const std::string draft = path_ + "." + std::to_string(number_);
  ::unlink(draft.c_str());  // of a dead process that had this number
  const UniqueFd file(::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | kFlags, kMode));
  const bool created = file && Store(file.Get()) && ::link(draft.c_str(), path_.c_str()) == 0;
  const int error = errno;
  ::unlink(draft.c_str());
  errno = error;
  return created;
} catch (...) {
  errno = ENOMEM;
  return false;
}

void PidFile::RemoveStale(pid_t predecessor) const {
  const UniqueFd file(::open(path_.c_str(), O_RDONLY | kFlags));
  if (!file && errno == ENOENT) {
    return;  // its process has removed it meanwhile
  }
  if (!file && errno != ELOOP) {
    ThrowErrno(path_);
  }
  if (file && !IsStillThere(file.Get(), path_)) {
    return;  // another starter has replaced it: Create() fails
  }
  const std::optional<pid_t> number = file ? NumberIn(file.Get()) : std::nullopt;
  if (!number) {
    throw std::invalid_argument(
        Message(path_, "it exists and is not a file with a process number"));
  }
  if (!MayReplace(*number, predecessor)) {
    throw std::runtime_error(
        Message(path_, "process " + std::to_string(*number) + " runs, and the file is its own"));
  }
  if (::unlink(path_.c_str()) != 0 && errno != ENOENT) {
    ThrowErrno(path_);
  }
}

// Writes over the old number in one call, then cuts off the rest: a reader finds one of the two.
auto PidFile::Store(int fd) const noexcept -> bool {
  std::array<char, kMostBytes> bytes{};
  char* const end = std::to_chars(bytes.data(), bytes.data() + bytes.size() - 1, number_).ptr;
  *end = '\n';
  const auto count = end + 1 - bytes.data();
  return ::pwrite(fd, bytes.data(), static_cast<std::size_t>(count), 0) == count &&
         ::ftruncate(fd, count) == 0;
}

auto PidFile::MayReplace(pid_t number, pid_t predecessor) const noexcept -> bool {
  return number == kNobody || number == number_ || number == predecessor || !Runs(number);
}

}  // namespace TURTLE_SERVER
