#include "bench/progress.h"

#include <chrono>
#include <cmath>
#include <cstdint>

#include "bench/report.h"

namespace TURTLE_SERVER {

auto Progress::Line(TimePoint now, const Totals& totals) -> std::string {
  const std::chrono::duration<double> since = now - begin_;
  const std::chrono::duration<double> step = now - last_;
  const auto rate = [&](std::uint64_t Totals::*counter) {
    return static_cast<double>(totals.*counter - before_.*counter) / step.count();
  };
  std::string line = std::to_string(std::lround(since.count())) +
                     " s: " + std::to_string(std::lround(rate(&Totals::requests))) +
                     " requests/s, " + std::to_string(std::lround(rate(&Totals::connections))) +
                     " connections/s, " + HumanBytes(rate(&Totals::bytes)) + "/s, " +
                     std::to_string(totals.Errors()) + " errors";
  before_ = totals;
  last_ = now;
  return line;
}

}  // namespace TURTLE_SERVER
