// The bytes that a client has taken, as far as this machine's kernel knows.
//
// That send(2) took bytes says nothing about the client: they may still be in the socket. And that
// the socket has no room says nothing either: Linux reports room when a third of its buffer is
// free, which for a slow client on a good line may be minutes from now. The truth is the count that
// the client's kernel has acknowledged, tcp(7).
//
// Thread: any; a free function without state.
#pragma once

#include <cstdint>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Counts the bytes that the other end of a connection has acknowledged. The count begins
/// somewhere and wraps around: only the difference of two means something.
/// @param socket a TCP connection
/// @return the count; 0 where the kernel doesn't say
[[nodiscard]] auto AcknowledgedBytes(int socket) noexcept -> std::uint32_t;

}  // namespace TURTLE_SERVER
