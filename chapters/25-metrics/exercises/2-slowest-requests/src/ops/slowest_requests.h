// The slowest requests of one loop.
//
// A histogram says that one request in a hundred took a second, but not which one. This keeps the
// few that took longest, with their targets.
//
// Thread: the loop's, but for Read(), which is any thread's.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace TURTLE_SERVER {

/// A request that took long.
struct SlowRequest {
  std::string target{};    ///< as it was sent, or its first SlowestRequests::kMaxTarget bytes
  int status = 0;          ///< of the response; 0: there was none
  Clock::duration took{};  ///< from its head to the end of its response
};

/// Keeps the slowest requests.
class SlowestRequests {
 public:
  /// The bytes of a target that are kept.
  static constexpr std::size_t kMaxTarget = 128;

  /// @param count how many are kept, at least 1
  /// @throws std::invalid_argument "0 requests: at least 1"
  explicit SlowestRequests(std::size_t count);

  SlowestRequests(const SlowestRequests&) = delete;
  auto operator=(const SlowestRequests&) -> SlowestRequests& = delete;
  ~SlowestRequests() = default;

  /// Keeps a request if it is among the slowest. Of requests that took equally long, the earlier
  /// ones stay. Allocates nothing. The loop's thread only.
  void Add(std::string_view target, int status, Clock::duration took) noexcept;

  /// Returns the requests that are kept, the slowest first; of requests that took equally long, the
  /// earliest first. Any thread.
  [[nodiscard]] auto Read() const -> std::vector<SlowRequest>;
};

}  // namespace TURTLE_SERVER
