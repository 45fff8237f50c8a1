// Logs clients above the limit: one line per second and loop, however many there are.
//
// With a line for each, refused clients could flood the log. So they are counted, and the first of
// them starts a timer that reports the total.
//
// Thread: the loop's, except Total().
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/counter.h"
#include "core/looper.h"

namespace TURTLE_SERVER {

/// Which limit refuses a client.
enum class RefusalKind : std::uint8_t {
  kByLoop,    ///< ServerOptions::max_connections
  kByAddress  ///< ServerOptions::address_limit
};

/// The clients of one loop that a limit has refused.
class alignas(kCacheLine) RefusalLog {
 public:
  /// @param kind of the limit, for the text of a line
  explicit RefusalLog(RefusalKind kind = RefusalKind::kByLoop) noexcept : kind_(kind) {}

  /// Counts one more refused client. It is logged within a second.
  /// @param looper the loop, always the same; this object must outlive it
  /// @param limit the most clients that it may have
  void Count(Looper& looper, std::size_t limit);

  /// Logs the count now, if it is not zero.
  void Tell() noexcept;

  /// Returns how many clients were refused so far. Any thread.
  [[nodiscard]] auto Total() const noexcept -> std::uint64_t { return total_; }

 private:
  const RefusalKind kind_;
  Counter total_;
  std::size_t untold_ = 0;
  std::size_t limit_ = 0;  // when the last client was refused
  bool awaits_timer_ = false;
};

}  // namespace TURTLE_SERVER
