// The steps between fork(2) and execve(2), worked out beforehand.
//
// Interface:
//  * ChildPlan: only numbers and pointers to finished memory, so that the child allocates nothing.
//  * RunPlan() is all that the child of a ChildProcess does.
//  * ResetSignals(), PutInPlace() and CloseOthersOnExec() are steps of it, for other children, too.
//  * The other functions exist once per kernel: child_process_linux.cpp, child_process_bsd.cpp.
//
// Thread: RunPlan() and its steps run in the child, whose parent may have many threads: no
// allocation, no lock, no stream, no exception.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <csignal>

#include "base/unique_fd.h"

namespace TURTLE_SERVER {

/// Everything the child needs. All descriptors are 3 or above, so that putting one in place never
/// closes another.
struct ChildPlan {
  int directory_fd;      ///< To be entered.
  const char* path;      ///< "./program"
  char* const* argv;     ///< Ends with a null pointer.
  char* const* envp;     ///< Ends with a null pointer.
  int stdin_fd;          ///< Becomes 0.
  int stdout_fd;         ///< Becomes 1.
  int stderr_fd;         ///< Becomes 2; -1: 2 stays what it is.
  int report_fd;         ///< Close-on-exec; a SpawnResult is written to it.
  bool limit_files;      ///< Whether `files` counts.
  rlimit files;          ///< RLIMIT_NOFILE of the child.
  int descriptor_bound;  ///< No descriptor of ours is that high.
};

/// Becomes the program, or reports why not and ends. Async-signal-safe.
[[noreturn]] void RunPlan(const ChildPlan& plan) noexcept;

/// Forks and lets the child run a plan. All signals are blocked here meanwhile.
/// @param run all that the child does: it becomes a program or ends, and never returns
/// @param plan what `run` is called with
/// @return the child's id, or -1 and errno.
auto ForkChild(void (*run)(const void* plan), const void* plan) noexcept -> pid_t;

/// Gives all signals their default action, but for those in `ignored`, and unblocks them. execve(2)
/// resets handlers, but keeps "ignore" and the mask. A server that ignores SIGPIPE would hand that
/// to programs which rely on it. Async-signal-safe; for the child.
void ResetSignals(const sigset_t& ignored) noexcept;

/// Makes `place` a copy of `fd` that is not close-on-exec. Async-signal-safe; for the child.
/// @return false: it can't be, see errno.
auto PutInPlace(int fd, int place) noexcept -> bool;

/// A number above that of any open descriptor of ours, for CloseOthersOnExec().
auto DescriptorBound() noexcept -> int;

/// Marks all descriptors from 3 up as close-on-exec. Async-signal-safe; for the child.
/// @param bound no open descriptor is that high.
void CloseOthersOnExec(int bound) noexcept;

/// A descriptor that becomes readable when a child of ours ends; empty: this system has none.
auto OpenExitFd(pid_t pid) noexcept -> UniqueFd;

}  // namespace TURTLE_SERVER
