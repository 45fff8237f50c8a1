// Restarts the program of a running server and hands over its listeners: no port is closed, and
// every client is served.
//
//   old: fork, exec ──> new: reads its settings, takes the listeners, serves
//   old: waits <────── "READY=1" through a pipe
//   old: stops accepting, finishes what it has begun, ends
//
// Until that message comes, nothing changes for the old process. A new program that doesn't start,
// ends or stays silent costs a line in the log.
//
// Interface:
//  * HandOver, in the old process: Begin() starts the new one, and a callback runs when it is
//    ready; Abandon() ends one that is not ready.
//  * ReadyPipe, in the new process: Tell() reports that it is ready, Fail() why it never will be.
//  * TakeSecret(), in the new process, returns what the old one has for it alone.
//
// The program is started by the name that started this one, and not by /proc/self/exe, because it
// should be the newly installed version. The listeners are passed as in sd_listen_fds(3), so the
// new process takes them like systemd's (ops/inherited_listeners.h). The number of the pipe is in
// TURTLE_READY_FD.
//
// The environment of a process can be read by others of the same user, and by the programs that it
// starts. So a secret goes through its own pipe, whose number is in TURTLE_SECRET_FD.
//
// The new program keeps its end of the pipe open while it runs, so the pipe's end reports its
// death. SIGCHLD is not needed, and remains unchanged.
//
// Thread: the loop's.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.h"
#include "core/looper.h"

namespace TURTLE_SERVER {

/// The parameters of a successor.
struct HandOverOptions {
  /// The program, as a path or as a name that is looked up in PATH, and its arguments: argv of
  /// main().
  std::vector<std::string> command;
  std::vector<int> listeners;      ///< Descriptors, open whenever Begin() is called.
  std::vector<std::string> names;  ///< One for each, for LISTEN_FDNAMES; without ':'.
  /// Signals that the successor ignores at its start, until it handles them: an early one must not
  /// end it. The others have their default action.
  std::vector<int> early_signals{};
  std::chrono::milliseconds time_limit{30'000};  ///< Until it must be ready.
  std::function<std::string()> secret{};  ///< Called by Begin(), for TakeSecret(); may be empty.
  static constexpr std::size_t kMostSecret = 4096;  ///< In bytes: a pipe has room for as many.
};

/// Called on the loop with the successor's process id.
using SuccessorCallback = std::function<void(pid_t)>;

/// The hand-over in the old process.
class HandOver {
 public:
  /// @param looper outlives this object
  /// @param options of the successor
  /// @param on_ready called when the successor serves; from then on it is independent
  HandOver(Looper& looper, HandOverOptions options, SuccessorCallback on_ready);

  /// Abandons a successor and waits for its end, up to the time limit; then kills it.
  ~HandOver();

  HandOver(const HandOver&) = delete;
  auto operator=(const HandOver&) -> HandOver& = delete;

  /// Starts a successor. Every error, now or later, is logged, and Begin() can be called again.
  /// While a successor is starting, nothing happens.
  void Begin();

  /// Returns true if a successor was started, and is neither ready nor abandoned nor dead.
  [[nodiscard]] auto UnderWay() const noexcept -> bool {
    return pid_ > 0 && !ready_ && !abandoned_;
  }

  /// Ends a successor that has not reported that it is ready, by SIGTERM: it may have accepted
  /// clients already. If its report has arrived, but was not read yet, this calls the callback
  /// instead.
  void Abandon() noexcept;

 private:
  auto Hear() -> bool;
  void OnPipe();
  void OnReady();
  void OnTimeLimit();
  void LookWhetherDead();
  void LookAgain() noexcept;
  void AwaitEnd() noexcept;
  void Kill() noexcept;
  void CancelLimit();
  void Forget();

  Looper& looper_;
  const HandOverOptions options_;
  const SuccessorCallback on_ready_;
  pid_t pid_ = -1;
  bool ready_ = false;
  bool too_late_ = false;
  bool abandoned_ = false;
  std::string said_;
  UniqueFd pipe_;
  std::optional<WatchId> watch_;
  std::optional<TimerId> limit_;
  std::optional<TimerId> look_;
};

/// The hand-over in the new process.
class ReadyPipe {
 public:
  /// Takes the pipe of TURTLE_READY_FD, and removes the variable. Without it, no process waits.
  /// @throws std::runtime_error if the variable is not the number of a pipe; the text has its
  ///     value
  ReadyPipe();

  /// Returns true if this process replaces another one.
  [[nodiscard]] auto IsAwaited() const noexcept -> bool { return static_cast<bool>(fd_); }

  /// Reports that this process serves. To be called once.
  void Tell() const noexcept;

  /// Reports why this process is about to exit. The predecessor logs it, because its log may differ
  /// from ours. The text may have several lines; its end is cut off if the log has no room for it.
  void Fail(std::string_view why) const noexcept;

 private:
  UniqueFd fd_;  // open until the end, by which the predecessor notices our death
};

/// Returns the secret of the predecessor, whose descriptor it closes, and removes the variable. To
/// be called once, before there are programs.
/// @return "": there is none, or the variable is not the number of a pipe
[[nodiscard]] auto TakeSecret() -> std::string;

/// Returns the file that execvp(3) would run.
/// @param name a path, or a name without a slash
/// @param path the value of PATH: directories, separated by colons
/// @return a path; nullopt: there is no such program
[[nodiscard]] auto FindProgram(const std::string& name, std::string_view path)
    -> std::optional<std::string>;

}  // namespace TURTLE_SERVER
