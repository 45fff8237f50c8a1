// Having the kernel keep a client back until it has said something.
//
// Interface:
//  * DeferAccept() asks for that, once for each listening socket.
//
// A server whose clients speak first saves a round of its loop for each of them: when it hears of
// the client, the request is there. The price:
//  * Where the server speaks first, both wait for each other.
//  * A silent client is hidden from code that counts or times clients.
//  * When the listener is closed, clients that were kept back are lost: what they say is answered
//    by a reset.
//
// On Linux this is TCP_DEFER_ACCEPT, tcp(7) (deferred_accept_linux.cpp). Other systems have
// nothing that can be had without loading a kernel module (deferred_accept_none.cpp).
//
// Thread: a free function without state.
#pragma once

#include <chrono>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Has accept(2) leave out clients that have not sent a byte yet.
/// @param listener a listening TCP socket
/// @param longest after about that time a silent client is let through all the same; 0: at once
/// @return false: the system can't, and every client is let through at once
auto DeferAccept(int listener, std::chrono::seconds longest) noexcept -> bool;

}  // namespace TURTLE_SERVER
