// Queries and options of the kernel's TCP that go beyond POSIX, tcp(7).
//
// Interface:
//  * AcknowledgedBytes() counts the bytes that a client has taken.
//
// That send(2) took bytes says nothing about the client: they may still be in the socket. Lack of
// room in the socket says nothing either: Linux reports room when a third of its buffer is free,
// which for a slow client on a good line may be minutes from now. Only the count that the client's
// kernel has acknowledged is certain.
//
// Thread: any; free functions without state.
#pragma once

#include <cstdint>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Counts the bytes that the other end of a connection has acknowledged. The count starts anywhere
/// and wraps around: only the difference of two counts means something.
/// @param socket a TCP connection
/// @return the count; 0 if the kernel doesn't provide it
[[nodiscard]] auto AcknowledgedBytes(int socket) noexcept -> std::uint32_t;

/// Counts the bytes that the other end has acknowledged since the last call.
/// @param socket a connection
/// @param before AcknowledgedBytes() at the last call, 0 at the first; updated by this call
[[nodiscard]] auto AcknowledgedSince(int socket, std::uint32_t& before) noexcept -> std::uint32_t;

}  // namespace TURTLE_SERVER
