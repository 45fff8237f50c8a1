// Measures how many clients wait to be accepted.
//
// Thread: any.
#pragma once

#include <cstdint>
#include <optional>

namespace TURTLE_SERVER {

/// The queue of a listener.
struct QueueLength {
  std::uint32_t waiting;  ///< clients that are connected and not accepted yet
  std::uint32_t limit;    ///< the backlog: when it is reached, no more clients are let in
};

/// Asks the kernel, by TCP_INFO, tcp(7).
/// @return nullopt if `socket` is not a descriptor, not a TCP socket, or not listening
[[nodiscard]] auto LengthOfQueue(int socket) noexcept -> std::optional<QueueLength>;

}  // namespace TURTLE_SERVER
