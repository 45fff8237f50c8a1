// One listener less, and no client lost.
//
// Thread: any, as long as nobody else uses the listeners' vector.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "core/net_address.h"
#include "core/socket.h"

namespace TURTLE_SERVER {

/// Closes one of the listeners of OpenListeners(), when its queue is empty and nobody new can come
/// into it: from the first moment on, clients are dealt out among the others. The clients that wait
/// in it are accepted and given to `take`, in the order of arrival. A handshake that is not
/// finished by then is nobody's: closing resets it.
///
/// The listener stays as it is until it goes: an accepted client blocks if the listener does.
///
/// @param listeners those that share the port, all of them; on return, without the one
/// @param index which one
/// @param take gets each client, with its address
/// @throws std::invalid_argument "no listener 3 among 3" and "the last listener can't retire";
///     std::system_error that names the call: "accept: Too many open files"; and what `take`
///     throws. The listener then stays, gets its share again, and keeps the clients that were not
///     accepted yet.
void Retire(std::vector<Socket>& listeners, std::size_t index,
            const std::function<void(Socket, const NetAddress&)>& take);

}  // namespace TURTLE_SERVER
