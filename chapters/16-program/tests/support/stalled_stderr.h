// stderr as a pipe whose reader has stopped reading.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>

#include "base/unique_fd.h"

namespace TURTLE_SERVER::test {

/// Makes descriptor 2 a full pipe for as long as it lives.
class StalledStderr {
 public:
  StalledStderr() : stderr_(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)) {
    std::array<int, 2> ends{};
    if (!stderr_ || ::pipe(ends.data()) != 0) {
      throw std::system_error(errno, std::generic_category(), "stalled stderr");
    }
    reader_.Reset(ends[0]);
    const UniqueFd writer(ends[1]);
    ::fcntl(writer.Get(), F_SETFL, O_NONBLOCK);
    const std::string filling(4096, '.');
    while (::write(writer.Get(), filling.data(), filling.size()) > 0) {
    }
    ::fcntl(writer.Get(), F_SETFL, 0);
    ::dup2(writer.Get(), STDERR_FILENO);
  }

  StalledStderr(const StalledStderr&) = delete;
  auto operator=(const StalledStderr&) -> StalledStderr& = delete;

  /// A thread that waits in write(2) gets a broken pipe, so SIGPIPE must be ignored.
  ~StalledStderr() {
    ::dup2(stderr_.Get(), STDERR_FILENO);
    reader_.Reset();
  }

  /// Reads from the pipe until `text` was seen or nothing arrived for 20 s.
  /// @return what was read, without the filling
  auto ReadUntil(std::string_view text) -> std::string {
    std::string read;
    while (read.find(text) == std::string::npos && ReadSome(read, 20'000)) {
    }
    return read;
  }

  /// Reads what is in the pipe.
  /// @return what was read, without the filling
  auto ReadAll() -> std::string {
    std::string read;
    while (ReadSome(read, 0)) {
    }
    return read;
  }

 private:
  auto ReadSome(std::string& into, int patience_ms) const -> bool {
    std::array<char, 4096> bytes;
    pollfd asked{reader_.Get(), POLLIN, 0};
    const bool ready = ::poll(&asked, 1, patience_ms) > 0;
    const ssize_t count = ready ? ::read(reader_.Get(), bytes.data(), bytes.size()) : 0;
    if (count <= 0) {
      return false;
    }
    into.append(bytes.data(), static_cast<std::size_t>(count));
    into.erase(0, into.find_first_not_of('.'));
    return true;
  }

  UniqueFd stderr_;
  UniqueFd reader_;
};

}  // namespace TURTLE_SERVER::test
