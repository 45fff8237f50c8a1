// A line of statistics by a regular expression (final/examples/statsd_line.h has the format).
//
// Thread: pure functions.
#pragma once

#include <optional>
#include <string>

namespace TURTLE_SERVER::reference {

/// The parts of a line, as written.
struct Statistic {
  std::string name;
  std::string value;
  std::string type;
  std::string rate;  ///< of the last @; "" without one
};

/// Reads one line. @return nullopt: it is malformed
auto ReadStatistic(const std::string& line) -> std::optional<Statistic>;

}  // namespace TURTLE_SERVER::reference
