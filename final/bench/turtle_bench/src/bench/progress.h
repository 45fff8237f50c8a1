// Writes a line each second about the events since the last one.
//
// Interface:
//  * Begin() starts the clock; Line() returns the next line.
//
// Thread: one at a time.
#pragma once

#include <string>

#include "base/clock.h"
#include "bench/tally.h"

namespace TURTLE_SERVER {

/// Turns counters into rates.
class Progress {
 public:
  /// Starts the clock at `now`.
  void Begin(TimePoint now) noexcept {
    begin_ = now;
    last_ = now;
  }

  /// Returns "3 s: 81000 requests/s, 0 connections/s, 66.1 MB/s, 0 errors"; all errors so far.
  /// @param now after the last call
  /// @param totals the counters at `now`
  [[nodiscard]] auto Line(TimePoint now, const Totals& totals) -> std::string;

 private:
  TimePoint begin_{};
  TimePoint last_{};
  Totals before_;  // at last_
};

}  // namespace TURTLE_SERVER
