// How many clients wait to be accepted.
//
// Thread: any.
#pragma once

#include <cstdint>
#include <optional>

namespace TURTLE_SERVER {

/// The queue of a listener.
struct QueueLength {
  std::uint32_t waiting;  ///< clients that are connected and not accepted yet
  std::uint32_t limit;    ///< the backlog: with so many there, nobody else is let in
};

/// Asks the kernel, by TCP_INFO, tcp(7).
/// @return nullopt: `socket` is no descriptor, or no TCP socket, or it does not listen
[[nodiscard]] auto LengthOfQueue(int socket) noexcept -> std::optional<QueueLength>;

}  // namespace TURTLE_SERVER
