// Gives scheduled requests to free clients, each when it is due.
//
// The schedule does not wait (see pace.h): a request without a free client is started late, by the
// first that becomes free, and its latency counts from when it was due.
//
// Interface:
//  * Begin() starts the schedule.
//  * Offer() adds a client that can take a request; Run() starts the due requests. In between an
//    alarm calls Run().
//
// Thread: the loop's, or before it runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "bench/alarm.h"
#include "bench/histogram.h"
#include "bench/pace.h"
#include "core/looper.h"

namespace TURTLE_SERVER {

/// Decides which client takes the next request, and when.
class Timetable {
 public:
  /// Starts a request that was due at `due`. @return false if this client can't, because it has
  /// changed since it was offered.
  using Start = std::function<bool(std::uint32_t client, TimePoint due)>;

  /// Throws std::system_error if the process is out of descriptors.
  /// @param looper outlives this object
  /// @param clients how many there are
  /// @param per_second requests, more than 0
  /// @param start may not call Offer() or Run()
  Timetable(Looper& looper, std::size_t clients, double per_second, Start start);

  /// Starts the schedule. Once.
  /// @param first when the first request is due
  void Begin(TimePoint first);

  /// Adds a client that can take a request. A second call does nothing. Throws std::bad_alloc.
  void Offer(std::uint32_t client);

  /// Starts due requests, as long as clients are free, the longest free first.
  void Run();

  /// Returns how many requests were due before `now` and have not been started.
  [[nodiscard]] auto Overdue(TimePoint now) const noexcept -> std::uint64_t {
    return pace_ ? pace_->Overdue(now) : 0;
  }

  /// Adds to `latency` how long the requests counted by Overdue() have waited.
  void CountWaits(TimePoint now, Histogram& latency) const noexcept;

 private:
  const double per_second_;
  const Start start_;
  std::optional<Pace> pace_;
  Alarm alarm_;
  TimePoint alarm_time_{};             // the time that it is set to
  std::deque<std::uint32_t> offered_;  // some may have changed since
  std::vector<char> is_offered_;       // by client
};

}  // namespace TURTLE_SERVER
