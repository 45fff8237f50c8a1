// Questions and options that the kernel's TCP has beyond POSIX, tcp(7).
//
// Interface:
//  * AcknowledgedBytes() counts the bytes that a client has taken.
//  * DeferAccept() has the kernel keep a client back until it has said something; called once for
//    each listening socket.
//
// That send(2) took bytes says nothing about the client: they may still be in the socket. And that
// the socket has no room says nothing either: Linux reports room when a third of its buffer is
// free, which for a slow client on a good line may be minutes from now. The truth is the count that
// the client's kernel has acknowledged.
//
// If clients speak first, the server saves a round of its loop for each client that is kept back:
// when it hears of the client, the request is there. The price:
//  * Where the server speaks first, both wait for each other.
//  * A silent client is hidden from code that counts or times clients.
//  * When the listener is closed, clients that were kept back are lost: what they say is answered
//    by a reset.
//
// On Linux, DeferAccept() is TCP_DEFER_ACCEPT (sys/tcp_linux.cpp). Other systems have nothing that
// works without loading a kernel module (sys/tcp_bsd.cpp).
//
// Thread: any; free functions without state.
#pragma once

#include <chrono>
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

/// Has accept(2) leave out clients that have not sent a byte yet.
/// @param listener a listening TCP socket
/// @param longest after about that time a silent client is let through all the same; 0: at once
/// @return false: the system can't, and every client is let through at once
auto DeferAccept(int listener, std::chrono::seconds longest) noexcept -> bool;

}  // namespace TURTLE_SERVER
