// A running server starts its program again and leaves it the listeners: no port is closed, and no
// client waits in vain.
//
//   old: fork, exec ──> new: reads its settings, takes the listeners, serves
//   old: waits <────── "READY=1" by a pipe
//   old: accepts no more, finishes what it has begun, ends
//
// Until the word comes, nothing changes for the old one. A new program that doesn't start, ends or
// says nothing costs a line in the log.
//
// Interface:
//  * HandOver, in the old process: Begin() starts the new one, and a callback is told when it is
//    ready; Abandon() has it end again, if it is not.
//  * ReadyPipe, in the new process: Tell() says that it is, Fail() why it never will be.
//
// The program is started by the name by which this one was, and not by /proc/self/exe: it is to be
// the newly installed one. The listeners are handed over as sd_listen_fds(3) says, so the new one
// takes them as it takes systemd's (ops/inherited_listeners.h). The pipe's number is in
// TURTLE_READY_FD.
//
// The new program keeps its end of the pipe open as long as it runs, so the pipe's end reports its
// death. SIGCHLD is not needed, and stays as it is.
//
// Thread: that of the loop.
#pragma once

#include <sys/types.h>

#include <chrono>
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
  /// The program, as a path or as a name to be looked for in PATH, and its arguments: argv of
  /// main().
  std::vector<std::string> command;
  std::vector<int> listeners;      ///< Descriptors, open whenever Begin() is called.
  std::vector<std::string> names;  ///< Of each of them, for LISTEN_FDNAMES; no ':' in them.
  /// Signals that the successor begins with ignored, until it takes them over: one that comes too
  /// early must not end it. The others have their default action.
  std::vector<int> early_signals{};
  std::chrono::milliseconds time_limit{30'000};  ///< For the word that it is ready.
};

/// Called on the loop with the successor's process id.
using SuccessorCallback = std::function<void(pid_t)>;

/// The old process's side.
class HandOver {
 public:
  /// @param looper outlives this object
  /// @param options what to start
  /// @param on_ready called when the successor serves; from then on it is on its own
  HandOver(Looper& looper, HandOverOptions options, SuccessorCallback on_ready);

  /// Abandon(), and waits for a successor that was abandoned, up to the time limit; then kills it.
  ~HandOver();

  HandOver(const HandOver&) = delete;
  auto operator=(const HandOver&) -> HandOver& = delete;

  /// Starts a successor. Every error, now or later, is logged, and the start can be tried again.
  /// While one is starting, nothing happens.
  void Begin();

  /// Is a successor on its way: started, and neither ready nor abandoned nor gone?
  [[nodiscard]] auto UnderWay() const noexcept -> bool {
    return pid_ > 0 && !ready_ && !abandoned_;
  }

  /// Has a successor end that has not said yet that it is ready, by SIGTERM: it may have let
  /// clients in already. If it has said so, and nobody has listened yet, the callback is called
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

/// The new process's side.
class ReadyPipe {
 public:
  /// Takes the pipe that TURTLE_READY_FD names, and removes the variable. Without one, nobody
  /// waits.
  /// @throws std::runtime_error when it names something else; the text says what
  ReadyPipe();

  /// Is there a process whose place this one takes?
  [[nodiscard]] auto IsAwaited() const noexcept -> bool { return static_cast<bool>(fd_); }

  /// This process serves. To be called once.
  void Tell() const noexcept;

  /// Reports why this process is about to exit. The predecessor logs it; its log may differ from
  /// ours. Lines; one that is too long for a line of log is cut off.
  void Fail(std::string_view why) const noexcept;

 private:
  UniqueFd fd_;  // open until the end: with it the predecessor sees us die
};

/// Returns the file that execvp(3) would run.
/// @param name a path, or a name without a slash
/// @param path the value of PATH: directories, separated by colons
/// @return a path; nullopt: there is no such program
[[nodiscard]] auto FindProgram(const std::string& name, std::string_view path)
    -> std::optional<std::string>;

}  // namespace TURTLE_SERVER
