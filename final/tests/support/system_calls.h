// Counts the system calls of another process, by ptrace(2) (Linux).
#pragma once

#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/wait.h>

#include <atomic>
#include <csignal>
#include <future>
#include <thread>

namespace TURTLE_SERVER::test {

/// Stops a child's first thread, and counts its system calls from Go() to Stop().
class SystemCalls {
 public:
  /// @param pid a child of this process; it is stopped from here on
  explicit SystemCalls(pid_t pid) : pid_(pid), thread_([this] { Trace(); }) {
    attached_ = stopped_.get_future().get();
  }

  SystemCalls(const SystemCalls&) = delete;
  auto operator=(const SystemCalls&) -> SystemCalls& = delete;

  ~SystemCalls() {
    if (thread_.joinable()) {
      Stop();
    }
  }

  /// False if this process may not do that.
  [[nodiscard]] auto IsAttached() const -> bool { return attached_; }

  /// Lets it run.
  void Go() {
    if (!going_) {
      going_ = true;
      go_.set_value();
    }
  }

  /// Stops counting, and lets go of the child. @return how many calls there were
  auto Stop() -> int {
    Go();
    ends_ = true;
    thread_.join();
    return stops_ / 2;  // each call stops it twice
  }

 private:
  // All requests must come from the thread that has attached.
  void Trace() {
    int status = 0;
    const bool attached = ::ptrace(PTRACE_SEIZE, pid_, 0, PTRACE_O_TRACESYSGOOD) == 0 &&
                          ::ptrace(PTRACE_INTERRUPT, pid_, 0, 0) == 0 &&
                          ::waitpid(pid_, &status, __WALL) == pid_;
    stopped_.set_value(attached);
    go_.get_future().wait();
    if (!attached) {
      return;
    }
    ::ptrace(PTRACE_SYSCALL, pid_, 0, 0);
    for (bool interrupted = false;;) {
      if (::waitpid(pid_, &status, __WALL | WNOHANG) == pid_) {
        if (!WIFSTOPPED(status) || interrupted) {
          break;
        }
        const bool is_call = WSTOPSIG(status) == (SIGTRAP | 0x80);
        stops_ += is_call ? 1 : 0;
        const bool is_signal = !is_call && status >> 16 == 0;
        ::ptrace(PTRACE_SYSCALL, pid_, 0, is_signal ? WSTOPSIG(status) : 0);
      } else if (ends_ && !interrupted) {
        interrupted = ::ptrace(PTRACE_INTERRUPT, pid_, 0, 0) == 0;
      } else {
        std::this_thread::yield();
      }
    }
    ::ptrace(PTRACE_DETACH, pid_, 0, 0);
  }

  const pid_t pid_;
  bool attached_ = false;
  bool going_ = false;
  std::atomic<bool> ends_{false};
  int stops_ = 0;
  std::promise<bool> stopped_;
  std::promise<void> go_;
  std::thread thread_;
};

}  // namespace TURTLE_SERVER::test
