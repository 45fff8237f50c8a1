// The values that every POSIX system has: getrusage(2), getrlimit(2).
#ifndef __linux__

#include <sys/resource.h>

#include "ops/process_figures.h"

namespace TURTLE_SERVER {

auto ReadProcessFigures() noexcept -> ProcessFigures {
  ProcessFigures figures;
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) == 0) {
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    figures.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  }
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    figures.max_descriptors = limit.rlim_cur;
  }
  return figures;
}

}  // namespace TURTLE_SERVER

#endif
