// Gives the requests of a rate to clients that are free, each when it is due.
//
// The schedule does not wait (see pace.h): a request for which no client is free is started late,
// by the first who becomes free, and its latency counts from when it was due.
//
// Interface:
//  * Begin() starts the schedule.
//  * Offer() says that a client can take a request, Run() starts those that are due. In between an
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
  /// Starts a request that was due at `due`. @return false: this client can't, it has changed since
  /// it was offered.
  using Start = std::function<bool(std::uint32_t client, TimePoint due)>;

  /// Throws std::system_error when the process is out of descriptors.
  /// @param looper outlives this object
  /// @param clients how many there are
  /// @param per_second requests, more than 0
  /// @param start may not call Offer() or Run()
  Timetable(Looper& looper, std::size_t clients, double per_second, Start start);

  /// Starts the schedule. Once.
  /// @param first when the first request is due
  void Begin(TimePoint first);

  /// The client can take a request. Repeated, nothing happens. Throws std::bad_alloc.
  void Offer(std::uint32_t client);

  /// Starts what is due, as long as clients are free, the longest free first.
  void Run();

  /// How many requests were due before `now` and have not been started.
  [[nodiscard]] auto Overdue(TimePoint now) const noexcept -> std::uint64_t {
    return pace_ ? pace_->Overdue(now) : 0;
  }

  /// Adds to `latency` how long those have waited that Overdue() counts.
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
