// A program that runs beside the server: started, watched, killed, reaped.
//
// Interface:
//  * Start() runs a program with given arguments, environment, directory and descriptors.
//  * ExitFd() becomes readable when it has ended; TryReap() collects how it ended.
//  * Kill() ends it with all its descendants; the destructor does so too.
//
// Other threads run while a program is started, and one of them may hold the lock of malloc or of a
// stream. So everything is prepared before fork(2), and between fork and execve(2) only
// async-signal-safe calls are made (signal-safety(7)). Errors there come back through a pipe that
// execve closes.
//
// Nothing waits for a program to end: a waitpid(2) that blocks would stop a whole loop.
//
// Thread: one thread at a time. SIGCHLD must not be ignored in this process: the kernel would reap
// on its own, and the number of a program could be somebody else's when we use it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/unique_fd.h"

namespace TURTLE_SERVER {

/// The program to run, with its arguments, environment and descriptors. Descriptors are borrowed
/// for the call of Start(); the child gets copies of the three, and no others. Where ours is
/// closed, or close-on-exec and so no standard error at all, "the same as ours" is /dev/null.
struct ChildOptions {
  int directory_fd = -1;               ///< Where the program is; becomes its working directory.
  std::string program;                 ///< A plain file name in that directory, its argv[0].
  std::vector<std::string> arguments;  ///< argv[1] and so on. No shell ever sees them.
  char* const* envp = nullptr;         ///< `NAME=value`, a null pointer at the end; null: empty.
  int stdin_fd = -1;                   ///< -1: /dev/null.
  int stdout_fd = -1;                  ///< -1: /dev/null.
  int stderr_fd = -1;                  ///< -1: the same as ours.
  std::optional<std::uint64_t> max_open_files{};  ///< RLIMIT_NOFILE; nullopt: the same as ours.
};

/// The step of Start() that failed.
enum class SpawnStep : std::uint8_t {
  kPrepare,    ///< The options make no sense, or we are out of descriptors.
  kFork,       ///< No new process.
  kDirectory,  ///< The working directory can't be entered, or there is none.
  kRedirect,   ///< A descriptor can't be put in place.
  kLimit,      ///< The limit of open files can't be set.
  kExecute     ///< execve(2): ENOENT: no such program; EACCES: not executable; ENOEXEC: no format.
};

/// The result of Start().
struct [[nodiscard]] SpawnResult {
  int error = 0;                         ///< 0: the program runs; else an errno value.
  SpawnStep step = SpawnStep::kPrepare;  ///< Where `error` came from.
  explicit operator bool() const noexcept { return error == 0; }  ///< True: the program runs.
  [[nodiscard]] auto ToString() const -> std::string;             ///< "execve: Permission denied".
};

/// How a program ended.
struct ExitStatus {
  /// By itself, by a signal, or nobody knows: another part of the process reaped it.
  enum class Kind : std::uint8_t { kExited, kSignaled, kUnknown };
  Kind kind = Kind::kUnknown;  ///< Says what `value` is.
  int value = 0;               ///< kExited: 0..255; kSignaled: the signal's number.
};

/// One program, from its start to its end.
class ChildProcess {
 public:
  ChildProcess() noexcept = default;                              ///< No program.
  ChildProcess(const ChildProcess&) = delete;                     ///< A program has one owner.
  auto operator=(const ChildProcess&) -> ChildProcess& = delete;  ///< As above.
  ChildProcess(ChildProcess&& other) noexcept;  ///< `other` has no program any more.
  auto operator=(ChildProcess&& other) noexcept -> ChildProcess&;  ///< Abandons its own first.
  ~ChildProcess() { Abandon(); }                                   ///< See Abandon().

  /// Starts a program in its own process group, with all signals at their default and none blocked.
  /// Returns when the program has been loaded or could not be: the time of an execve(2). A program
  /// that this object had before is abandoned.
  /// @param options what to run.
  /// @return success, or the step that failed and why. Never throws for a system error.
  auto Start(const ChildOptions& options) -> SpawnResult;

  /// Returns the process id, which is also the group's; -1: no program, or reaped.
  [[nodiscard]] auto Pid() const noexcept -> pid_t { return pid_; }

  /// A descriptor that is readable once the program has ended (pidfd_open(2)); -1 where the system
  /// has none: ask TryReap() when the program's output ends, and from a timer.
  [[nodiscard]] auto ExitFd() const noexcept -> int { return exit_fd_.Get(); }

  /// Collects the program if it has ended; never blocks. From then on its number may belong to
  /// somebody else and Kill() does nothing, so first Kill() what it may have left behind in its
  /// group, or be sure that nothing of that matters.
  /// @return how it ended, again and again; nullopt: it runs, or there was none.
  [[nodiscard]] auto TryReap() noexcept -> std::optional<ExitStatus>;

  /// Sends SIGKILL to the program and to all descendants that stayed in its group. Nothing happens
  /// without a program or after it was reaped. Its end is still to be reaped.
  void Kill() noexcept;

  /// Kills the group and forgets the program. A child that can't be reaped at once (a killed
  /// process takes a moment to die) is kept on a list of the process, for ReapAbandoned().
  void Abandon() noexcept;

  /// Reaps abandoned programs that have died by now. Start() does it as well, so zombies never add
  /// up; to reap the last one, call this from a timer. Any thread.
  /// @return how many are still dying.
  static auto ReapAbandoned() noexcept -> std::size_t;

 private:
  pid_t pid_ = -1;
  UniqueFd exit_fd_;
  std::optional<ExitStatus> status_;
};

}  // namespace TURTLE_SERVER
