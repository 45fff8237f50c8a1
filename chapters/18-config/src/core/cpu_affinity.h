// A thread that keeps to one CPU.
//
// The kernel moves threads between CPUs as it sees fit, and each time what the thread has in the
// caches of the old one is left behind. A loop that has a CPU to itself need not move. The price:
// when somebody else computes on that CPU, the loop waits, though another may be free.
//
// Interface:
//  * CpuPin holds the thread that makes it on one CPU for as long as it lives.
//  * ReleaseCpu() lets a child process use all that the thread could use before.
//
// On Linux this is sched_setaffinity(2) (cpu_affinity_linux.cpp). Other systems have hints at most
// (cpu_affinity_none.cpp).
//
// Thread: that which makes the CpuPin also destroys it.
#pragma once

#include <array>
#include <cstddef>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Holds this thread on one CPU.
class CpuPin {
 public:
  /// @param index of the CPU among those that the thread may use; beyond the last it begins again
  ///     with the first
  explicit CpuPin(std::size_t index) noexcept;

  /// The thread may use the CPUs that it could use before.
  ~CpuPin();

  CpuPin(const CpuPin&) = delete;
  auto operator=(const CpuPin&) -> CpuPin& = delete;

  /// 0, or why the thread is not held, an errno value: sched_setaffinity(2).
  [[nodiscard]] auto Error() const noexcept -> int { return error_; }

 private:
  friend void ReleaseCpu() noexcept;

  static constexpr std::size_t kMaxCpus = 1024;

  // The CPUs, as the kernel has it.
  [[maybe_unused]] alignas(long) std::array<unsigned char, kMaxCpus / 8> before_{};
  int error_ = 0;
};

/// Undoes this thread's CpuPin in a child between vfork(2) and execve(2), which would inherit it
/// and share one CPU with the thread that started it. Async-signal-safe.
void ReleaseCpu() noexcept;

}  // namespace TURTLE_SERVER
