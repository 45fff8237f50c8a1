// Keeps a thread on one CPU.
//
// The kernel moves threads between CPUs as it sees fit, and each time the thread loses what it has
// in the old CPU's caches. A loop with its own CPU need not move. The price: if another program
// computes on that CPU, the loop waits, even if another CPU is idle.
//
// Interface:
//  * CpuPin keeps the thread that makes it on one CPU for as long as it lives.
//  * ReleaseCpu() lets a child process use all CPUs that the thread could use before.
//
// On Linux this is sched_setaffinity(2) (cpu_affinity_linux.cpp). Other systems offer hints at most
// (cpu_affinity_none.cpp).
//
// Thread: the thread that makes a CpuPin also destroys it.
#pragma once

#include <array>
#include <cstddef>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Keeps this thread on one CPU.
class CpuPin {
 public:
  /// @param index of the CPU among those that the thread may use; after the last CPU it starts over
  ///     with the first
  explicit CpuPin(std::size_t index) noexcept;

  /// Lets the thread use the CPUs that it could use before.
  ~CpuPin();

  CpuPin(const CpuPin&) = delete;
  auto operator=(const CpuPin&) -> CpuPin& = delete;

  /// Returns 0, or an errno value that says why the thread is not pinned: sched_setaffinity(2).
  [[nodiscard]] auto Error() const noexcept -> int { return error_; }

 private:
  friend void ReleaseCpu() noexcept;

  static constexpr std::size_t kMaxCpus = 1024;

  // The CPUs, in the kernel's format.
  [[maybe_unused]] alignas(long) std::array<unsigned char, kMaxCpus / 8> before_{};
  int error_ = 0;
};

/// Undoes this thread's CpuPin in a child between vfork(2) and execve(2). The child would inherit
/// the pin and share one CPU with the thread that started it. Async-signal-safe.
void ReleaseCpu() noexcept;

}  // namespace TURTLE_SERVER
