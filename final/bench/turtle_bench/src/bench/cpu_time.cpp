#include "bench/cpu_time.h"

#include <sys/resource.h>

namespace TURTLE_SERVER {

namespace {

auto Seconds(const timeval& time) noexcept -> double {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

}  // namespace

auto UsedCpu() noexcept -> CpuTime {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return {Seconds(usage.ru_utime), Seconds(usage.ru_stime)};
}

}  // namespace TURTLE_SERVER
