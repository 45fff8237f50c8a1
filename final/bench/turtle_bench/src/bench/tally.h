// The counters of a worker, which another thread may show while it runs.
//
// Interface:
//  * ErrorKind and NameOf(): the ways in which a request can fail.
//  * Tally: the counters of one worker (base/counter.h). Totals: their values, summed.
//  * MeanMax: an average and a maximum of durations.
//
// Thread: given for each class.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/clock.h"
#include "base/counter.h"
#include "base/namespace.h"

namespace TURTLE_SERVER {

/// How a request or a connection failed.
enum class ErrorKind : std::uint8_t {
  kConnect,    ///< no connection was established
  kHandshake,  ///< the connection was, but TLS was not
  kTimeout,    ///< the response did not arrive completely in time
  kReset,      ///< reset, or ended without a byte of the response
  kStatus,     ///< a complete response whose status is not 2xx
  kTruncated,  ///< the connection ended within the response
  kMismatch,   ///< the body is not that of the first response
  kProtocol,   ///< not HTTP, or more than was requested
};

/// The number of kinds.
inline constexpr std::size_t kErrorKinds = 8;

/// Returns the name of a kind for a report and for JSON.
constexpr auto NameOf(ErrorKind kind) noexcept -> const char* {
  constexpr std::array<const char*, kErrorKinds> kNames = {
      "connect", "handshake", "timeout", "reset", "status", "truncated", "mismatch", "protocol"};
  return kNames[static_cast<std::size_t>(kind)];
}

/// The counts so far; a value.
struct Totals {
  std::uint64_t requests = 0;                       ///< complete responses, correct in all parts
  std::uint64_t connections = 0;                    ///< connections that were opened
  std::uint64_t bytes = 0;                          ///< received, including heads, without TLS
  std::uint64_t full = 0;                           ///< TLS handshakes with a certificate
  std::uint64_t resumed = 0;                        ///< TLS handshakes with an earlier session
  std::array<std::uint64_t, kErrorKinds> errors{};  ///< by ErrorKind

  /// Returns the number of all errors.
  [[nodiscard]] auto Errors() const noexcept -> std::uint64_t {
    std::uint64_t sum = 0;
    for (const std::uint64_t count : errors) {
      sum += count;
    }
    return sum;
  }
};

/// The counters of one worker.
struct Tally {
  Counter requests;                         ///< as in Totals
  Counter connections;                      ///< as in Totals
  Counter bytes;                            ///< as in Totals
  Counter full;                             ///< as in Totals
  Counter resumed;                          ///< as in Totals
  std::array<Counter, kErrorKinds> errors;  ///< by ErrorKind

  /// Counts a failure.
  void Fail(ErrorKind kind) noexcept { ++errors[static_cast<std::size_t>(kind)]; }

  /// Adds the present values to `totals`.
  void AddTo(Totals& totals) const noexcept {
    totals.requests += requests.Get();
    totals.connections += connections.Get();
    totals.bytes += bytes.Get();
    totals.full += full.Get();
    totals.resumed += resumed.Get();
    for (std::size_t i = 0; i < kErrorKinds; ++i) {
      totals.errors[i] += errors[i].Get();
    }
  }
};

/// Average and maximum of durations. One thread.
class MeanMax {
 public:
  /// Adds a duration.
  void Add(Clock::duration duration) noexcept {
    ++count_;
    sum_ += duration;
    max_ = std::max(max_, duration);
  }

  /// Adds those of another.
  void Merge(const MeanMax& other) noexcept {
    count_ += other.count_;
    sum_ += other.sum_;
    max_ = std::max(max_, other.max_);
  }

  /// Returns the average in microseconds; 0 if there are none.
  [[nodiscard]] auto Mean() const noexcept -> double {
    return count_ == 0 ? 0 : Microseconds(sum_).count() / static_cast<double>(count_);
  }

  /// Returns the maximum in microseconds.
  [[nodiscard]] auto Max() const noexcept -> double { return Microseconds(max_).count(); }

 private:
  using Microseconds = std::chrono::duration<double, std::micro>;

  std::uint64_t count_ = 0;
  Clock::duration sum_{0};
  Clock::duration max_{0};
};

}  // namespace TURTLE_SERVER
