// Starts programs on macOS and the BSDs: plain fork(2) and a loop over the descriptors.
#ifndef __linux__

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "process/child_plan.h"

namespace TURTLE_SERVER {

auto ForkChild(void (*run)(const void* plan), const void* plan) noexcept -> pid_t {
  // Blocked, so that no handler of ours runs in the child before it has reset them.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);  // without ::, it may be a macro
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = ::fork();
  if (pid == 0) {
    run(plan);
  }
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return pid;
}

void CloseOthersOnExec(int bound) noexcept {
  for (int fd = 3; fd < bound; ++fd) {
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  }
}

auto OpenExitFd(pid_t /*pid*/) noexcept -> UniqueFd { return UniqueFd(); }

}  // namespace TURTLE_SERVER

#endif  // !__linux__
