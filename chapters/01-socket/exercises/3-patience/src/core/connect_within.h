// A connect that gives up.
#pragma once

#include <chrono>

#include "core/net_address.h"
#include "core/socket.h"

namespace TURTLE_SERVER {

/// Connects, but waits no longer than `limit`, however many signals come in.
///
/// @return a socket that blocks, as one of Socket::Connect() does.
/// @throws std::system_error, "connect 192.0.2.1:80: Connection timed out" when the time is over,
///     and what Socket::Connect() throws otherwise.
[[nodiscard]] auto ConnectWithin(const NetAddress& server, std::chrono::milliseconds limit)
    -> Socket;

}  // namespace TURTLE_SERVER
