// Counts the requests of one loop: how many, with which status, and how long they took.
//
// Interface:
//  * RequestFigures contains the counts: Begin() and End() add to them, Read() returns them.
//  * CountRequests() is an observer that counts into them (web/exchange_observer.h).
//
// A client can't create new counters: they are an array, made once. No request allocates or locks;
// the only cost is reading the time of day once, at its end.
//
// Thread: the loop's; Read() on any.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/counter.h"
#include "web/exchange_observer.h"

namespace TURTLE_SERVER {

/// The counts.
struct RequestTotals {
  /// How many responses had this status.
  struct OfStatus {
    int status = 0;           ///< 100 to 599; 0: any other
    std::uint64_t count = 0;  ///< not 0
  };

  std::uint64_t open = 0;           ///< requests without a complete response
  std::vector<OfStatus> statuses;   ///< responses, even cut ones; by status, 0 is last
  std::uint64_t unanswered = 0;     ///< requests whose clients were gone before any response
  std::uint64_t cut = 0;            ///< responses that were cut short
  std::uint64_t body_bytes = 0;     ///< of responses
  std::vector<std::uint64_t> took;  ///< requests, by RequestFigures::kBounds; the last: longer
  double seconds = 0;               ///< that all of them took
};

/// Counts the requests of one loop.
class RequestFigures {
 public:
  /// The bounds of the buckets for the duration of a request: from its head, when the loop's round
  /// found it, to the response, when the connection got it. This includes the request's wait for
  /// its turn in a round, but not the time that the client took to read.
  static constexpr std::array<std::chrono::microseconds, 17> kBounds{
      std::chrono::microseconds(50),        std::chrono::microseconds(100),
      std::chrono::microseconds(250),       std::chrono::microseconds(500),
      std::chrono::microseconds(1'000),     std::chrono::microseconds(2'500),
      std::chrono::microseconds(5'000),     std::chrono::microseconds(10'000),
      std::chrono::microseconds(25'000),    std::chrono::microseconds(50'000),
      std::chrono::microseconds(100'000),   std::chrono::microseconds(250'000),
      std::chrono::microseconds(500'000),   std::chrono::microseconds(1'000'000),
      std::chrono::microseconds(2'500'000), std::chrono::microseconds(5'000'000),
      std::chrono::microseconds(10'000'000)};

  /// Counts a request that has begun.
  void Begin() noexcept { begun_.Add(1); }

  /// Counts a request that has ended.
  /// @param record as for ExchangeObserver::OnEnd()
  /// @param now the time
  void End(const ExchangeRecord& record, TimePoint now) noexcept;

  /// Returns all counts. Any thread.
  [[nodiscard]] auto Read() const -> RequestTotals;

 private:
  static constexpr int kFirstStatus = 100;
  static constexpr std::size_t kStatuses = 500;  // 100 to 599, and all others

  alignas(kCacheLine) Counter begun_;
  Counter ended_;  // only requests that were counted as begun
  Counter unanswered_;
  Counter cut_;
  Counter body_bytes_;
  Counter nanoseconds_;
  std::array<Counter, kBounds.size() + 1> took_;
  std::array<Counter, kStatuses + 1> statuses_;
};

/// Returns an observer that counts.
/// @param figures outlives the observer
/// @param clock called at the end of each request
[[nodiscard]] auto CountRequests(RequestFigures& figures, ClockSource clock = Clock::now)
    -> std::unique_ptr<ExchangeObserver>;

}  // namespace TURTLE_SERVER
