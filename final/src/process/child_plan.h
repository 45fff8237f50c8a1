// The steps between fork(2) and execve(2), prepared in advance.
//
// Interface:
//  * ChildPlan has only numbers and pointers to finished memory, so the child allocates nothing.
//  * RunPlan() is everything that the child of a ChildProcess does.
//  * ResetSignals(), PutInPlace() and CloseOthersOnExec() are its steps, also for other children.
//  * The other functions exist once per kernel: child_process_linux.cpp, child_process_bsd.cpp.
//
// Thread: RunPlan() and its steps run in the child, whose parent may have many threads. So they use
// no allocation, no lock, no stream, no exception.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <csignal>

#include "base/unique_fd.h"

namespace TURTLE_SERVER {

/// Everything the child needs. All descriptors are 3 or above, so that putting one in place never
/// closes another.
struct ChildPlan {
  int directory_fd;      ///< Directory to enter.
  const char* path;      ///< "./program"
  char* const* argv;     ///< Ends with a null pointer.
  char* const* envp;     ///< Ends with a null pointer.
  int stdin_fd;          ///< Becomes 0.
  int stdout_fd;         ///< Becomes 1.
  int stderr_fd;         ///< Becomes 2; -1: 2 is unchanged.
  int report_fd;         ///< Close-on-exec; a SpawnResult is written to it.
  bool limit_files;      ///< Whether `files` is used.
  rlimit files;          ///< RLIMIT_NOFILE of the child.
  int descriptor_bound;  ///< Above any descriptor of ours.
};

/// Becomes the program, or reports why not and ends. Async-signal-safe.
[[noreturn]] void RunPlan(const ChildPlan& plan) noexcept;

/// Forks and lets the child run a plan. All signals are blocked in this thread meanwhile.
/// @param run everything that the child does: it becomes a program or ends, and never returns
/// @param plan argument of `run`
/// @return the child's id, or -1 and errno.
auto ForkChild(void (*run)(const void* plan), const void* plan) noexcept -> pid_t;

/// Gives all signals their default action, except those in `ignored`, and unblocks them. execve(2)
/// resets handlers, but keeps "ignore" and the mask. A server that ignores SIGPIPE would pass that
/// on to programs that rely on the signal. Async-signal-safe; for the child.
void ResetSignals(const sigset_t& ignored) noexcept;

/// Makes `place` a copy of `fd` that is not close-on-exec. Async-signal-safe; for the child.
/// @return false and errno on failure.
auto PutInPlace(int fd, int place) noexcept -> bool;

/// Returns a number above any open descriptor of ours, for CloseOthersOnExec().
auto DescriptorBound() noexcept -> int;

/// Marks all descriptors from 3 up as close-on-exec. Async-signal-safe; for the child.
/// @param bound above any open descriptor.
void CloseOthersOnExec(int bound) noexcept;

/// Returns a descriptor that becomes readable when a child ends; empty if the system has none.
auto OpenExitFd(pid_t pid) noexcept -> UniqueFd;

}  // namespace TURTLE_SERVER
