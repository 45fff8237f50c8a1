// Closes one of several listeners without losing a client.
//
// Thread: any, while no other thread uses the listeners' vector.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "core/net_address.h"
#include "core/socket.h"

namespace TURTLE_SERVER {

/// Closes one of the listeners of OpenListeners(), when its queue is empty and can't get new
/// clients: from the beginning, clients are distributed among the others. The clients in its queue
/// are accepted and given to `take`, in the order of arrival. A handshake that is not finished by
/// then is lost: closing resets it.
///
/// The listener's mode does not change before that: an accepted client blocks if the listener does.
///
/// @param listeners all that share the port; on return, without the closed one
/// @param index of the listener to close
/// @param take gets each client, with its address
/// @throws std::invalid_argument "no listener 3 among 3" and "the last listener can't retire";
///     std::system_error that names the call: "accept: Too many open files"; and the exceptions of
///     `take`. The listener then stays, gets its share again, and keeps the clients that were not
///     accepted yet.
void Retire(std::vector<Socket>& listeners, std::size_t index,
            const std::function<void(Socket, const NetAddress&)>& take);

}  // namespace TURTLE_SERVER
