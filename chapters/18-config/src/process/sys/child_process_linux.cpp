// Starts programs on Linux: vfork(2), close_range(2), pidfd_open(2).
#ifdef __linux__

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "core/cpu_affinity.h"
#include "process/child_plan.h"

namespace TURTLE_SERVER {

namespace {

// Headers older than the kernel lack these.
#ifdef SYS_close_range
constexpr long kCloseRange = SYS_close_range;
#else
constexpr long kCloseRange = 436;
#endif
#ifdef SYS_pidfd_open
constexpr long kPidfdOpen = SYS_pidfd_open;
#else
constexpr long kPidfdOpen = 434;
#endif
constexpr unsigned kCloseRangeCloexec = 1U << 2;

}  // namespace

// vfork(2) borrows our memory instead of copying its page tables. With a large cache, copying takes
// longer than everything else here. This thread sleeps until the child has called execve(2) or
// _exit(2), so sharing the stack is safe. A signal handler that ran in the child would change our
// memory, so all signals are blocked until the child has reset them.
auto ForkChild(void (*run)(const void* plan), const void* plan) noexcept -> pid_t {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = ::vfork();  // NOLINT(clang-analyzer-security.insecureAPI.vfork): see above
  if (pid == 0) {
    ReleaseCpu();
    run(plan);  // NOLINT(clang-analyzer-unix.Vfork): never returns, changes nothing of ours
  }
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return pid;
}

void CloseOthersOnExec(int bound) noexcept {
  // Close-on-exec keeps the report's pipe open until the program really runs.
  if (::syscall(kCloseRange, 3U, ~0U, kCloseRangeCloexec) == 0) {
    return;
  }
  for (int fd = 3; fd < bound; ++fd) {  // before Linux 5.11
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  }
}

// There is no race although it comes after the fork: only we reap the child, so the number is still
// its own even if it has ended.
auto OpenExitFd(pid_t pid) noexcept -> UniqueFd {
  return UniqueFd(static_cast<int>(::syscall(kPidfdOpen, pid, 0)));  // close-on-exec by itself
}

}  // namespace TURTLE_SERVER

#endif  // __linux__
