// Computes when clients refused by a full pool should return: not all at once.
//
// A pool of `threads` threads, whose tasks take `task` each, can start one more every
// task / threads. Each refused client gets such a turn, and no other client gets the same.
//
// Thread: any.
#pragma once

#include <chrono>
#include <cstddef>

namespace TURTLE_SERVER {

/// Computes values for Retry-After.
class RetryAdvice {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;  ///< A time.

  /// @param threads of the pool, at least 1
  /// @param task how long one takes, at least 1 ms
  /// @param most the longest returned time, at least 1 s
  /// @throws std::invalid_argument "0 threads: at least 1", "a task of 0 ms: at least 1",
  ///     "0 s at most: at least 1"
  RetryAdvice(std::size_t threads, std::chrono::milliseconds task, std::chrono::seconds most);

  RetryAdvice(const RetryAdvice&) = delete;
  auto operator=(const RetryAdvice&) -> RetryAdvice& = delete;
  ~RetryAdvice() = default;

  /// Gives a turn to a client that was refused.
  /// @param queued how many tasks wait
  /// @param now the time
  /// @return the seconds until its turn, rounded up, at least 1. If that is more than `most`,
  ///     returns `most`, and gives no turn.
  [[nodiscard]] auto Next(std::size_t queued, TimePoint now) -> std::chrono::seconds;
};

}  // namespace TURTLE_SERVER
