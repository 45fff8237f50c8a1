// Runs a program beside the server: starts, watches, kills and reaps it.
//
// Interface:
//  * Start() runs a program with given arguments, environment, directory and descriptors.
//  * ExitFd() becomes readable when it has ended; TryReap() returns its exit status.
//  * Kill() ends it with all its descendants; so does the destructor.
//
// Other threads run while a program is started, and one of them may hold the lock of malloc or of a
// stream. So everything is prepared before fork(2), and between fork and execve(2) only
// async-signal-safe functions are called (signal-safety(7)). Errors there are reported through a
// pipe that execve closes.
//
// No call waits for a program to end: a blocking waitpid(2) would stop a whole loop.
//
// Thread: one thread at a time. SIGCHLD must not be ignored in this process: the kernel would reap
// the program, and its number could belong to another process when we use it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/unique_fd.h"

namespace TURTLE_SERVER {

/// The program to run, with its arguments, environment and descriptors. Descriptors are borrowed
/// for the call of Start(); the child gets copies of the three, and no others. If ours is closed,
/// or is close-on-exec and so not a standard error, "the same as ours" is /dev/null.
struct ChildOptions {
  int directory_fd = -1;               ///< The program's directory; becomes its working directory.
  std::string program;                 ///< A plain file name in that directory, its argv[0].
  std::vector<std::string> arguments;  ///< argv[1] and so on. No shell interprets them.
  char* const* envp = nullptr;         ///< `NAME=value`, a null pointer at the end; null: empty.
  int stdin_fd = -1;                   ///< -1: /dev/null.
  int stdout_fd = -1;                  ///< -1: /dev/null.
  int stderr_fd = -1;                  ///< -1: the same as ours.
  std::optional<std::uint64_t> max_open_files{};  ///< RLIMIT_NOFILE; nullopt: the same as ours.
};

/// The step of Start() that failed.
enum class SpawnStep : std::uint8_t {
  kPrepare,    ///< The options are invalid, or we are out of descriptors.
  kFork,       ///< No new process.
  kDirectory,  ///< The working directory can't be entered, or is missing.
  kRedirect,   ///< A descriptor can't be put in place.
  kLimit,      ///< The limit of open files can't be set.
  kExecute     ///< execve(2): ENOENT: not found; EACCES: not executable; ENOEXEC: unknown format.
};

/// The result of Start().
struct [[nodiscard]] SpawnResult {
  int error = 0;                         ///< 0: the program runs; else an errno value.
  SpawnStep step = SpawnStep::kPrepare;  ///< The source of `error`.
  explicit operator bool() const noexcept { return error == 0; }  ///< True: the program runs.
  [[nodiscard]] auto ToString() const -> std::string;             ///< "execve: Permission denied".
};

/// How a program ended.
struct ExitStatus {
  /// By itself, by a signal, or unknown: another part of the process has reaped it.
  enum class Kind : std::uint8_t { kExited, kSignaled, kUnknown };
  Kind kind = Kind::kUnknown;  ///< The meaning of `value`.
  int value = 0;               ///< kExited: 0..255; kSignaled: the signal's number.
};

/// One program, from its start to its end.
class ChildProcess {
 public:
  ChildProcess() noexcept = default;                              ///< Has no program.
  ChildProcess(const ChildProcess&) = delete;                     ///< A program has one owner.
  auto operator=(const ChildProcess&) -> ChildProcess& = delete;  ///< As above.
  ChildProcess(ChildProcess&& other) noexcept;  ///< `other` has no program any more.
  auto operator=(ChildProcess&& other) noexcept -> ChildProcess&;  ///< Abandons its own first.
  ~ChildProcess() { Abandon(); }                                   ///< See Abandon().

  /// Starts a program in its own process group, with all signals at their default and none blocked.
  /// Returns when the program was loaded or failed to: the time of an execve(2). A previous program
  /// of this object is abandoned.
  /// @param options the program with its arguments and descriptors.
  /// @return success, or the failed step and its error. Never throws for a system error.
  auto Start(const ChildOptions& options) -> SpawnResult;

  /// Returns the process id, which is also the group's; -1: no program, or reaped.
  [[nodiscard]] auto Pid() const noexcept -> pid_t { return pid_; }

  /// Returns a descriptor that is readable once the program has ended (pidfd_open(2)); -1 if the
  /// system has none: call TryReap() when the program's output ends, and from a timer.
  [[nodiscard]] auto ExitFd() const noexcept -> int { return exit_fd_.Get(); }

  /// Reaps the program if it has ended; never blocks. After that its number may belong to another
  /// process, and Kill() does nothing. So first Kill() any descendants in its group, unless they
  /// don't matter.
  /// @return its exit status, again on each call; nullopt if it runs, or there was none.
  [[nodiscard]] auto TryReap() noexcept -> std::optional<ExitStatus>;

  /// Sends SIGKILL to the program and to all descendants that stayed in its group. Does nothing
  /// without a program or after it was reaped. The program must still be reaped.
  void Kill() noexcept;

  /// Kills the group and forgets the program. A child that can't be reaped at once (a killed
  /// process takes a while to die) is put on the process's list for ReapAbandoned().
  void Abandon() noexcept;

  /// Reaps abandoned programs that are dead by now. Start() does that as well, so zombies never
  /// pile up. To reap the last one, call this from a timer. Any thread.
  /// @return how many are still dying.
  static auto ReapAbandoned() noexcept -> std::size_t;

 private:
  pid_t pid_ = -1;
  UniqueFd exit_fd_;
  std::optional<ExitStatus> status_;
};

}  // namespace TURTLE_SERVER
