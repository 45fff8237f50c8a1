// Several listeners on one address, among which the kernel distributes the clients.
//
// One listener is one queue, and the loop that accepts from it hands clients to the others. With
// SO_REUSEPORT, socket(7), each loop has its own listener and queue; the kernel chooses by a hash
// of the client's address and port.
//
// The option has a price: it lets each other program of the same user set it, too, and take
// its share of the clients. A server that is started twice by mistake would do that without
// anybody noticing. So the first listener binds and listens without the option, and gets it
// afterwards: if another program listens already, with or without the option, bind(2) or
// listen(2) fails.
//
// Interface:
//  * OpenListeners() opens one or several.
//  * PreferThisCpu() makes a listener get the clients of one CPU, PreferNoCpu() undoes that.
//  * SharePort() lets others join a listener; the system's part is in sys/tcp_linux.cpp.
//
// Other systems have options of the same name that do other things: on some, the latest listener
// gets all clients. On those systems there is one listener (sys/tcp_bsd.cpp).
//
// Thread: free functions without state.
#pragma once

#include <cstddef>
#include <vector>

#include "core/net_address.h"
#include "core/socket.h"

namespace TURTLE_SERVER {

/// Opens listeners on one address. A client waits in the queue of one listener, and closing that
/// listener resets the client.
/// @param local the address; port 0 is any free one, the same for all
/// @param count how many, at least 1. If the system can't, it opens one and logs a warning.
/// @param backlog clients that may wait in the kernel for each listener, listen(2)
/// @return the listeners
/// @throws std::system_error, which names the address, as Socket::Bind() and Socket::Listen() do:
///     even if another program has such listeners there
[[nodiscard]] auto OpenListeners(const NetAddress& local, std::size_t count,
                                 int backlog = SOMAXCONN) -> std::vector<Socket>;

/// Lets sockets that the same user's programs open from now on bind to the address of `socket`, and
/// makes the kernel distribute clients among those that listen.
/// @return false: the system can't
[[nodiscard]] auto SharePort(int socket) noexcept -> bool;

/// Makes `listener` get the clients whose packets arrive at the CPU that this thread runs on, as
/// far as there is a choice. Clients of a CPU that no listener prefers are distributed as before.
/// Call it on a thread that a CpuPin keeps on its CPU.
/// @param listener one of several from OpenListeners()
/// @return 0, or an errno value: ENOTSUP before Linux 6.2, which ignores a preference among several
///     listeners
[[nodiscard]] auto PreferThisCpu(int listener) noexcept -> int;

/// Lets `listener` get its share of all clients again.
/// @return 0, or an errno value
auto PreferNoCpu(int listener) noexcept -> int;

}  // namespace TURTLE_SERVER
