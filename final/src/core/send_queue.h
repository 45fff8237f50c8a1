// The bytes that the kernel holds for a client.
//
// Connection::UnsentBytes() doesn't count them: the kernel has taken them. But the client has not,
// and with a slow network there may be megabytes of them.
//
// Thread: any; a free function without state.
#pragma once

#include <cstddef>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Counts the bytes of a connection that the kernel has taken, and that the client's kernel has not
/// acknowledged: SIOCOUTQ on Linux (tcp(7)), FIONWRITE on FreeBSD (tty(4)), SO_NWRITE on macOS.
/// @param socket a TCP connection
/// @return the count; 0 if the kernel doesn't provide it
[[nodiscard]] auto SendQueueBytes(int socket) noexcept -> std::size_t;

}  // namespace TURTLE_SERVER
