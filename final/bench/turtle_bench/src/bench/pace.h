// Schedules a given number of requests per second.
//
// A load generator that sends the next request only after the last response goes easy on a server
// that stalls. In the second of the stall it sends nothing, and one slow request represents the
// thousand that real users would have sent (coordinated omission). So the schedule is fixed before
// the run, it does not wait for the server, and a latency is counted from the time when the request
// was due, not from when it could be sent.
//
// Interface:
//  * Next() returns when the next request is due; Take() takes that one.
//  * Overdue() returns how many were due at some time and were not taken, DueOf() their due times.
//
// Thread: one at a time.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>

#include "base/clock.h"
#include "base/namespace.h"

namespace TURTLE_SERVER {

/// A schedule of evenly spaced requests.
class Pace {
 public:
  /// @param start when the first request is due
  /// @param per_second more than 0
  Pace(TimePoint start, double per_second) noexcept : start_(start), per_second_(per_second) {}

  /// Returns when the next request is due.
  [[nodiscard]] auto Next() const noexcept -> TimePoint { return next_; }

  /// Takes the next request. @return when it was due
  auto Take() noexcept -> TimePoint {
    const TimePoint due = next_;
    next_ = TimeOf(++taken_);
    return due;
  }

  /// Returns the due time of the request `ahead` places after the next one.
  [[nodiscard]] auto DueOf(std::uint64_t ahead) const noexcept -> TimePoint {
    return TimeOf(taken_ + ahead);
  }

  /// Returns how many requests were due before `now` and have not been taken.
  [[nodiscard]] auto Overdue(TimePoint now) const noexcept -> std::uint64_t {
    if (now <= next_) {
      return 0;
    }
    const std::chrono::duration<double> time = now - start_;
    const auto due = static_cast<std::uint64_t>(std::ceil(time.count() * per_second_));
    return due > taken_ ? due - taken_ : 0;
  }

 private:
  // From the start, not from the one before: a rounding error must not add up.
  [[nodiscard]] auto TimeOf(std::uint64_t number) const noexcept -> TimePoint {
    const std::chrono::duration<double> after(static_cast<double>(number) / per_second_);
    return start_ + std::chrono::duration_cast<Clock::duration>(after);
  }

  TimePoint start_;
  double per_second_;
  std::uint64_t taken_ = 0;
  TimePoint next_ = start_;
};

}  // namespace TURTLE_SERVER
