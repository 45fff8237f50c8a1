// Queries and options of the kernel's TCP that go beyond POSIX, tcp(7).
//
// Interface:
//  * AcknowledgedBytes() counts the bytes that a client has taken.
//  * DeferAccept() makes the kernel hold a client back until it has sent something; call it once
//    for each listening socket.
//
// That send(2) took bytes says nothing about the client: they may still be in the socket. Lack of
// room in the socket says nothing either: Linux reports room when a third of its buffer is free,
// which for a slow client on a good line may be minutes from now. Only the count that the client's
// kernel has acknowledged is certain.
//
// If clients speak first, the server saves a round of its loop for each client that is held back:
// when the server gets the client, the request is there. The price:
//  * If the server speaks first, both wait for each other.
//  * A silent client is hidden from code that counts clients or limits their time.
//  * When the listener is closed, clients that were held back are lost: whatever they send is met
//    with a reset.
//
// On Linux, DeferAccept() is TCP_DEFER_ACCEPT (sys/tcp_linux.cpp). Other systems offer nothing that
// works without a kernel module (sys/tcp_bsd.cpp).
//
// Thread: any; free functions without state.
#pragma once

#include <chrono>
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

/// Makes accept(2) skip clients that have not sent a byte yet.
/// @param listener a listening TCP socket
/// @param longest the time after which a silent client is accepted anyway; 0: at once
/// @return false: the system can't, and every client is accepted at once
auto DeferAccept(int listener, std::chrono::seconds longest) noexcept -> bool;

}  // namespace TURTLE_SERVER
