// Keeps the slowest requests of one loop.
//
// A histogram shows that one request in a hundred took a second, but not which one. This class
// keeps the slowest ones, with their targets.
//
// Thread: the loop's; Read() on any.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace TURTLE_SERVER {

/// A slow request.
struct SlowRequest {
  std::string target{};    ///< as sent, or its first SlowestRequests::kMaxTarget bytes
  int status = 0;          ///< of the response; 0: there was none
  Clock::duration took{};  ///< from its head to the end of its response
};

/// Keeps the slowest requests.
class SlowestRequests {
 public:
  /// How many bytes of a target are kept.
  static constexpr std::size_t kMaxTarget = 128;

  /// @param count how many are kept, at least 1
  /// @throws std::invalid_argument "0 requests: at least 1"
  explicit SlowestRequests(std::size_t count);

  SlowestRequests(const SlowestRequests&) = delete;
  auto operator=(const SlowestRequests&) -> SlowestRequests& = delete;
  ~SlowestRequests() = default;

  /// Keeps a request if it is among the slowest. Among equally slow requests, the earlier ones
  /// stay. Allocates nothing. Loop thread only.
  void Add(std::string_view target, int status, Clock::duration took) noexcept;

  /// Returns the kept requests, the slowest first; among equally slow ones, the earliest first. Any
  /// thread.
  [[nodiscard]] auto Read() const -> std::vector<SlowRequest>;
};

}  // namespace TURTLE_SERVER
