// Questions and options that the kernel's TCP has beyond POSIX, tcp(7).
//
// Interface:
//  * AcknowledgedBytes() counts the bytes that a client has taken.
//
// That send(2) took bytes says nothing about the client: they may still be in the socket. And that
// the socket has no room says nothing either: Linux reports room when a third of its buffer is
// free, which for a slow client on a good line may be minutes from now. The truth is the count that
// the client's kernel has acknowledged.
//
// Thread: any; free functions without state.
#pragma once

#include <cstdint>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Counts the bytes that the other end of a connection has acknowledged. The count begins
/// somewhere and wraps around: only the difference of two means something.
/// @param socket a TCP connection
/// @return the count; 0 where the kernel doesn't say
[[nodiscard]] auto AcknowledgedBytes(int socket) noexcept -> std::uint32_t;

/// Counts the bytes that the other end has acknowledged since the last call.
/// @param socket a connection
/// @param before what AcknowledgedBytes() was at the last call, 0 at the first; becomes that of now
[[nodiscard]] auto AcknowledgedSince(int socket, std::uint32_t& before) noexcept -> std::uint32_t;

}  // namespace TURTLE_SERVER
