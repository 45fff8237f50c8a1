// A program that a test starts, talks to and outlives.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/unique_fd.h"
#include "core/socket_calls.h"
#include "support/client.h"

extern char** environ;

namespace TURTLE_SERVER::test {

/// The directory of this build's examples; defined by the build.
extern const char* const kExamplesDir;

/// Returns the path of an example of this build.
inline auto ExamplePath(const std::string& name) -> std::string {
  return std::string(kExamplesDir) + "/" + name;
}

/// A child process whose input, output and errors the test holds. It is killed with this object.
class Child {
 public:
  /// Starts a program.
  explicit Child(const std::string& program, const std::vector<std::string>& arguments = {}) {
    UniqueFd child_input;
    UniqueFd child_output;
    UniqueFd child_errors;
    // A socket pair, so that writing to a program that has ended raises no SIGPIPE.
    int pair[2];
    Check(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0 ? 0 : errno, "socketpair");
    child_input.Reset(pair[0]);
    input_.Reset(pair[1]);
    MuteSigpipe(pair[1]);
    MakePipe(output_, child_output);
    MakePipe(errors_, child_errors);
    // Our ends must not live on in this child or the next: end of file would never come.
    for (const int fd : {input_.Get(), output_.Get(), errors_.Get(), child_input.Get(),
                         child_output.Get(), child_errors.Get()}) {
      ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, child_input.Get(), STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, child_output.Get(), STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, child_errors.Get(), STDERR_FILENO);
    std::vector<std::string> words{program};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) {
      argv.push_back(word.data());
    }
    argv.push_back(nullptr);
    const int error =
        ::posix_spawn(&pid_, program.c_str(), &actions, nullptr, argv.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    Check(error, program.c_str());
  }

  Child(const Child&) = delete;
  auto operator=(const Child&) -> Child& = delete;

  ~Child() {
    if (!status_) {
      ::kill(pid_, SIGKILL);
      int status = 0;
      while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
      }
    }
  }

  /// Returns the process id.
  [[nodiscard]] auto Pid() const -> pid_t { return pid_; }

  /// Sends a signal.
  void Signal(int number) const {
    if (!status_) {
      ::kill(pid_, number);
    }
  }

  /// Writes to the program's input; false if it doesn't read any more.
  auto Write(std::string_view bytes) -> bool {
    while (!bytes.empty()) {
      const ssize_t count = ::send(input_.Get(), bytes.data(), bytes.size(), kNoSignal);
      if (count < 0 && errno != EINTR) {
        return false;
      }
      bytes.remove_prefix(count < 0 ? 0 : static_cast<std::size_t>(count));
    }
    return true;
  }

  /// Ends the program's input.
  void CloseInput() { input_.Reset(); }

  /// Returns its next line of output, without the line feed; if the time runs out, whatever has
  /// arrived.
  auto ReadLine(std::chrono::milliseconds limit = kPatience) -> std::string {
    const auto deadline = Clock::now() + limit;
    std::size_t end = pending_.find('\n');
    while (end == std::string::npos && Fill(output_, pending_, deadline)) {
      end = pending_.find('\n');
    }
    std::string line = pending_.substr(0, end);
    pending_.erase(0, end == std::string::npos ? end : end + 1);
    return line;
  }

  /// Returns the rest of its output, until it is closed or the time is over.
  auto ReadOutput(std::chrono::milliseconds limit = kPatience) -> std::string {
    return ReadToEnd(output_, std::move(pending_), limit);
  }

  /// Returns its error output, until it is closed or the time is over.
  auto ReadErrors(std::chrono::milliseconds limit = kPatience) -> std::string {
    return ReadToEnd(errors_, "", limit);
  }

  /// Waits for the program's end.
  /// @param limit the longest wait.
  /// @return its exit code, 128 + n if signal n ended it, nullopt if it still runs.
  auto Wait(std::chrono::milliseconds limit = kPatience) -> std::optional<int> {
    const auto deadline = Clock::now() + limit;
    while (!status_) {
      int status = 0;
      const pid_t ended = ::waitpid(pid_, &status, WNOHANG);
      if (ended == pid_) {
        status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      } else if (Clock::now() > deadline) {
        break;
      } else {
        ::poll(nullptr, 0, 5);  // there is no portable timed wait for a child
      }
    }
    return status_;
  }

 private:
  using Clock = std::chrono::steady_clock;

  static void Check(int error, const char* what) {
    if (error != 0) {
      throw std::system_error(error, std::generic_category(), what);
    }
  }

  static void MakePipe(UniqueFd& read_end, UniqueFd& write_end) {
    int ends[2];
    Check(::pipe(ends) == 0 ? 0 : errno, "pipe");
    read_end.Reset(ends[0]);
    write_end.Reset(ends[1]);
  }

  // Appends arriving bytes; false at the end of file or when the time is over.
  static auto Fill(const UniqueFd& from, std::string& into, Clock::time_point deadline) -> bool {
    while (from) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
      pollfd waiting{from.Get(), POLLIN, 0};
      const int ready =
          ::poll(&waiting, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
      if (ready == 0) {
        return false;
      }
      std::array<char, 4096> bytes;
      const ssize_t count = ready < 0 ? -1 : ::read(from.Get(), bytes.data(), bytes.size());
      if (count > 0) {
        into.append(bytes.data(), static_cast<std::size_t>(count));
        return true;
      }
      if (count == 0 || errno != EINTR) {
        return false;
      }
    }
    return false;
  }

  static auto ReadToEnd(const UniqueFd& from, std::string start, std::chrono::milliseconds limit)
      -> std::string {
    const auto deadline = Clock::now() + limit;
    while (Fill(from, start, deadline)) {
    }
    return start;
  }

  pid_t pid_ = -1;
  UniqueFd input_;
  UniqueFd output_;
  UniqueFd errors_;
  std::string pending_;
  std::optional<int> status_;
};

/// An example that is a server: started on any free port, ready once constructed.
class ExampleServer : public Child {
 public:
  /// Starts the example, which must print "listening on ADDRESS:PORT" first. Otherwise Port() is
  /// -1.
  explicit ExampleServer(const std::string& name = "echo_server",
                         const std::vector<std::string>& arguments = {"0"})
      : Child(ExamplePath(name), arguments), first_line_(ReadLine()) {
    const std::size_t colon = first_line_.rfind(':');
    if (first_line_.rfind("listening on ", 0) == 0 && colon != std::string::npos) {
      port_ = std::stoi(first_line_.substr(colon + 1));
    }
  }

  /// Returns its first line of output.
  [[nodiscard]] auto FirstLine() const -> const std::string& { return first_line_; }

  /// Returns its port.
  [[nodiscard]] auto Port() const -> int { return port_; }

 private:
  std::string first_line_;
  int port_ = -1;
};

}  // namespace TURTLE_SERVER::test
