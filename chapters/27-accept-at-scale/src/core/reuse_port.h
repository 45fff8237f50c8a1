// Several listeners on one address, among which the kernel deals the clients out.
//
// One listener is one queue, and the loop that accepts from it hands clients to the others. With
// SO_REUSEPORT, socket(7), each loop has its own listener and queue; the kernel chooses by a hash
// of the client's address and port.
//
// The option has a price: a program that sets it lets each program of the same user do so, too, and
// take its share of the clients. A server that is started twice by mistake would do that, and
// nobody would hear of it. So the first listener binds and listens as if it were to stay alone, and
// gets the option afterwards: where anybody listens already, with the option or without, bind(2) or
// listen(2) refuses it.
//
// Interface:
//  * OpenListeners() opens one or several.
//  * PreferThisCpu() has a listener get the clients of one CPU, PreferNoCpu() undoes that.
//  * SharePort() lets others join a listener; the system's part is in sys/tcp_linux.cpp.
//
// Other systems have options of the same name that do other things: on some the latest listener
// gets everybody. There it is one listener (sys/tcp_bsd.cpp).
//
// Thread: free functions without state.
#pragma once

#include <cstddef>
#include <vector>

#include "core/net_address.h"
#include "core/socket.h"

namespace TURTLE_SERVER {

/// Opens listeners on one address. A client waits in the queue of one of them, and closing that one
/// resets it.
/// @param local where; port 0 is any free one, the same for all
/// @param count how many, at least 1. Where the system can't, it is one, and the log hears of it.
/// @param backlog clients that wait in the kernel to be accepted, listen(2), of each
/// @return the listeners
/// @throws std::system_error, which names the address, as Socket::Bind() and Socket::Listen(): even
///     when another program has such listeners there
[[nodiscard]] auto OpenListeners(const NetAddress& local, std::size_t count,
                                 int backlog = SOMAXCONN) -> std::vector<Socket>;

/// Lets sockets that are opened from now on, by programs of the same user, bind where `socket` is
/// bound, and has the kernel deal clients out among those that listen.
/// @return false: the system can't
[[nodiscard]] auto SharePort(int socket) noexcept -> bool;

/// Has `listener` get the clients whose packets arrive at the CPU that this thread runs on, as far
/// as there is a choice. Clients of a CPU that nobody prefers are dealt out as before. On a thread
/// that stays where it is, by a CpuPin.
/// @param listener one of several of OpenListeners()
/// @return 0, or why it can't be, an errno value: ENOTSUP before Linux 6.2, which looks for no
///     preference among several
[[nodiscard]] auto PreferThisCpu(int listener) noexcept -> int;

/// Has `listener` get its share of all clients again.
/// @return 0, or why it can't be, an errno value
auto PreferNoCpu(int listener) noexcept -> int;

}  // namespace TURTLE_SERVER
