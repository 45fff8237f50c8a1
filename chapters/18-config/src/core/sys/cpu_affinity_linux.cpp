// CpuPin over sched_setaffinity(2).
#ifdef __linux__

#include <sched.h>

#include <cerrno>

#include "core/cpu_affinity.h"

namespace TURTLE_SERVER {

namespace {

thread_local const CpuPin* pin_of_thread = nullptr;

// Returns the number of the CPU with this index in the set, which is not empty.
auto CpuAt(const cpu_set_t& set, std::size_t index) noexcept -> int {
  auto left = static_cast<int>(index % static_cast<std::size_t>(CPU_COUNT(&set)));
  int cpu = 0;
  for (; !CPU_ISSET(cpu, &set) || left > 0; ++cpu) {
    left -= CPU_ISSET(cpu, &set) ? 1 : 0;
  }
  return cpu;
}

}  // namespace

CpuPin::CpuPin(std::size_t index) noexcept {
  static_assert(sizeof(cpu_set_t) == sizeof(before_), "as glibc and musl have it");
  auto& before = reinterpret_cast<cpu_set_t&>(before_);
  cpu_set_t one;
  CPU_ZERO(&one);
  if (sched_getaffinity(0, sizeof before, &before) != 0) {
    error_ = errno;
    return;
  }
  CPU_SET(CpuAt(before, index), &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0) {
    error_ = errno;
    return;
  }
  pin_of_thread = this;
}

CpuPin::~CpuPin() {
  ReleaseCpu();
  pin_of_thread = nullptr;
}

void ReleaseCpu() noexcept {
  if (pin_of_thread != nullptr) {
    sched_setaffinity(0, sizeof(cpu_set_t),
                      reinterpret_cast<const cpu_set_t*>(&pin_of_thread->before_));
  }
}

}  // namespace TURTLE_SERVER

#endif  // __linux__
