// How Linux starts a program: vfork(2), close_range(2), pidfd_open(2).
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

// vfork(2) borrows our memory instead of copying its page tables, which with a large cache takes
// longer than everything else here. This thread sleeps until the child has called execve(2) or
// _exit(2), so the stack that both use is safe. A signal handler of ours that ran in the child
// would change our memory, so all signals are blocked until the child has reset them.
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
  // Not closing at once keeps the report's pipe open until the program really runs.
  if (::syscall(kCloseRange, 3U, ~0U, kCloseRangeCloexec) == 0) {
    return;
  }
  for (int fd = 3; fd < bound; ++fd) {  // before Linux 5.11
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  }
}

// Without a race although it comes after the fork: nobody but us reaps the child, so the number
// is its own even if it has ended by now.
auto OpenExitFd(pid_t pid) noexcept -> UniqueFd {
  return UniqueFd(static_cast<int>(::syscall(kPidfdOpen, pid, 0)));  // close-on-exec by itself
}

}  // namespace TURTLE_SERVER

#endif  // __linux__
