// Connects with a timeout.
#pragma once

#include <chrono>

#include "core/net_address.h"
#include "core/socket.h"

namespace TURTLE_SERVER {

/// Connects, but waits at most `limit`, however many signals arrive.
///
/// @return a blocking socket, like that of Socket::Connect().
/// @throws std::system_error, "connect 192.0.2.1:80: Connection timed out" after that time, and
///     otherwise as Socket::Connect() does.
[[nodiscard]] auto ConnectWithin(const NetAddress& server, std::chrono::milliseconds limit)
    -> Socket;

}  // namespace TURTLE_SERVER
