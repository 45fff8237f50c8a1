#include "log/line_pipe.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/sigpipe_block.h"
#include "base/unique_fd.h"

namespace TURTLE_SERVER {

namespace {

constexpr auto kNap = std::chrono::milliseconds(10);

}  // namespace

// Returns the events of the descriptor, by poll(2).
auto LinePipe::Poll(std::chrono::milliseconds patience) const noexcept -> short {
  pollfd asked{fd_, POLLOUT, 0};
  return poll(&asked, 1, static_cast<int>(patience.count())) > 0 ? asked.revents : short{0};
}

// Writes like write(2), but fails with EAGAIN instead of waiting. Checks the descriptor each time:
// dup2(2) may replace it, and a pipe kept open would never end for its reader.
auto LinePipe::WriteNow(std::string_view bytes) const noexcept -> ssize_t {
  struct stat status {};
  if (fstat(fd_, &status) != 0) {
    return -1;
  }
  if (S_ISSOCK(status.st_mode)) {
    return QuietSend(fd_, bytes);
  }
  if (S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode)) {
    std::array<char, 32> name{};
    std::snprintf(name.data(), name.size(), "/proc/self/fd/%d", fd_);
    const UniqueFd ours(open(name.data(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
    if (ours) {
      return QuietWrite(ours.Get(), bytes);
    }
    if (Poll(std::chrono::milliseconds(0)) == 0) {
      errno = EAGAIN;
      return -1;
    }
  }
  return QuietWrite(fd_, bytes);
}

auto LinePipe::TryWrite(std::string_view& lines) noexcept -> bool {
  std::uint64_t missing = 0;
  Outcome outcome = Outcome::kTaken;
  bool done = false;
  {
    const MutexLock lock(mutex_);
    PutAll(lines, outcome);
    done = outcome == Outcome::kRefused || (outcome == Outcome::kTaken && rest_size_ == 0);
    if (outcome == Outcome::kTaken && error_sink_ != nullptr) {
      missing = std::exchange(lost_, 0);
    }
  }
  if (missing != 0) {
    std::array<char, 100> text{};
    std::snprintf(text.data(), text.size(), "log: %llu lines are missing in descriptor %d",
                  static_cast<unsigned long long>(missing), fd_);
    error_sink_(LogLevel::kWarning, text.data());
  }
  return done;
}

void LinePipe::PutAll(std::string_view& lines, Outcome& outcome) noexcept {
  PutRest(outcome);
  if (outcome == Outcome::kTaken && lost_ != 0 && error_sink_ == nullptr) {
    Put(LossLine(lost_).View(), outcome);
    if (outcome == Outcome::kTaken) {
      lost_ = 0;
      PutRest(outcome);
    }
  }
  if (outcome == Outcome::kTaken) {
    Put(lines, outcome);
  }
  if (outcome == Outcome::kRefused) {
    lost_ += CountLines(lines);
  }
  if (outcome != Outcome::kNoRoom) {
    lines = {};
  }
}

// Writes all of them, or a part, and keeps the rest.
void LinePipe::Put(std::string_view lines, Outcome& outcome) noexcept {
  const ssize_t count = lines.empty() ? 0 : WriteNow(lines);
  if (count < 0) {
    outcome = errno == EAGAIN ? Outcome::kNoRoom : Outcome::kRefused;
    return;
  }
  lines.remove_prefix(static_cast<std::size_t>(count));
  std::copy(lines.begin(), lines.end(), rest_.begin());
  rest_size_ = lines.size();
  outcome = Outcome::kTaken;
}

// Writes the kept part. No bytes may come between two parts of a line.
void LinePipe::PutRest(Outcome& outcome) noexcept {
  const std::string_view rest(rest_.data(), rest_size_);
  Put(rest, outcome);
  if (outcome == Outcome::kRefused && rest != "\n") {
    lost_ += CountLines(rest);
    rest_.front() = '\n';  // ends the text that is there
    rest_size_ = 1;
  }
  if (outcome == Outcome::kTaken && rest_size_ != 0) {
    outcome = Outcome::kNoRoom;
  }
}

void LinePipe::AwaitRoom(std::chrono::milliseconds patience) const noexcept {
  if (Poll(std::chrono::milliseconds(0)) != 0) {
    // A terminal with room for one byte, when a line end takes two, would make this loop spin.
    poll(nullptr, 0, static_cast<int>(std::min(patience, kNap).count()));
  } else {
    Poll(patience);
  }
}

void LinePipe::CountLost(std::uint64_t lines) noexcept {
  const MutexLock lock(mutex_);
  lost_ += lines;
}

}  // namespace TURTLE_SERVER
