// Reads proc(5): /proc/self/stat, /proc/self/fd.
#ifdef __linux__

#include <dirent.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <exception>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "ops/process_figures.h"

namespace TURTLE_SERVER {

namespace {

auto SecondsOf(const timeval& time) -> double {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

auto Now(clockid_t clock) -> double {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

// Returns seconds since 1970. Computed once: setting the clock moves the system's start, and
// another start would look like another process. The file /proc/stat has the value, too, but not
// for a service that may only see processes (ProcSubset=pid of systemd.exec(5)).
auto StartTime(double ticks_since_boot) -> double {
  static const double start = Now(CLOCK_REALTIME) - Now(CLOCK_BOOTTIME) +
                              ticks_since_boot / static_cast<double>(sysconf(_SC_CLK_TCK));
  return start;
}

void ReadStat(ProcessFigures& figures) {
  std::ifstream file("/proc/self/stat");
  std::string text;
  std::getline(file, text);
  // The second field is the program's name in brackets, and may contain anything.
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) {
    return;
  }
  std::istringstream fields(text.substr(name_end + 1));
  constexpr int kThird = 3;
  constexpr int kStartTime = 22;
  std::string skipped;
  for (int field = kThird; field < kStartTime; ++field) {
    fields >> skipped;
  }
  double start_ticks = 0;
  std::uint64_t bytes = 0;
  std::uint64_t pages = 0;
  if (fields >> start_ticks >> bytes >> pages) {
    figures.start_time = StartTime(start_ticks);
    figures.virtual_bytes = bytes;
    figures.resident_bytes = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  }
}

auto CountDescriptors() -> std::optional<std::uint64_t> {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc/self/fd"), closedir);
  if (!folder) {
    return std::nullopt;
  }
  std::uint64_t count = 0;
  while (const dirent* entry = readdir(folder.get())) {
    count += entry->d_name[0] == '.' ? 0U : 1U;
  }
  return count - 1;  // without this one
}

}  // namespace

auto ReadProcessFigures() noexcept -> ProcessFigures {
  ProcessFigures figures;
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) == 0) {
    figures.cpu_seconds = SecondsOf(usage.ru_utime) + SecondsOf(usage.ru_stime);
  }
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    figures.max_descriptors = limit.rlim_cur;
  }
  try {
    ReadStat(figures);
    figures.open_descriptors = CountDescriptors();
  } catch (const std::exception&) {
    // out of memory: the values read so far are returned
  }
  return figures;
}

}  // namespace TURTLE_SERVER

#endif
