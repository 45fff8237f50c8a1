// proc(5): /proc/self/stat, /proc/stat, /proc/self/fd.
#ifdef __linux__

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <exception>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "core/process_figures.h"

namespace TURTLE_SERVER {

namespace {

auto SecondsOf(const timeval& time) -> double {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

// When the system was started, in seconds since 1970.
auto BootTime() -> std::optional<double> {
  std::ifstream file("/proc/stat");
  for (std::string word; file >> word;) {
    double time = 0;
    if (word == "btime" && file >> time) {
      return time;
    }
  }
  return std::nullopt;
}

void ReadStat(ProcessFigures& figures) {
  std::ifstream file("/proc/self/stat");
  std::string text;
  std::getline(file, text);
  // The second field is the program's name in brackets, and may hold anything.
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
    if (const auto boot = BootTime()) {
      figures.start_time = *boot + start_ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
    }
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
    // no memory: what has been read is told
  }
  return figures;
}

}  // namespace TURTLE_SERVER

#endif
