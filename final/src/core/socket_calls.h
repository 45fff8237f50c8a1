// The three socket calls that differ between systems: opening, accepting, and sending without a
// signal. Linux and the BSDs do each in one step (socket_calls.cpp), macOS needs several
// (socket_calls_macos.cpp).
//
// Interface:
//  * OpenSocket(), AcceptSocket(): a new descriptor, closed on exec, in the requested mode.
//  * kNoSignal, MuteSigpipe(): a write to a peer that is gone is an error, never a SIGPIPE. Some
//    systems need this with each send, some once per socket; callers do both.
//
// Thread: free functions without state.
#pragma once

#include <cstdint>

#include "core/net_address.h"

namespace TURTLE_SERVER {

/// Whether calls on a descriptor may put the thread to sleep.
enum class FdMode : std::uint8_t {
  kBlocking,     ///< they wait until they can do something
  kNonBlocking,  ///< they fail with EAGAIN instead
};

/// Flag for send(2) that suppresses SIGPIPE; 0 where there is none.
extern const int kNoSignal;

/// Opens a stream socket.
///
/// @param family AF_INET or AF_INET6 for TCP, AF_UNIX for unix(7).
/// @param mode whether it blocks.
/// @return a descriptor owned by the caller, or -1 and errno (socket(2)).
[[nodiscard]] auto OpenSocket(int family, FdMode mode) noexcept -> int;

/// Takes one client from the queue of a listening socket.
///
/// @param listener the listening socket.
/// @param client is replaced by the client's address.
/// @param mode whether the new descriptor blocks; it does not depend on the listener's.
/// @return a descriptor owned by the caller, or -1 and errno (accept(2)).
[[nodiscard]] auto AcceptSocket(int listener, NetAddress& client, FdMode mode) noexcept -> int;

/// Makes a socket never raise SIGPIPE, where that is a property of the socket.
void MuteSigpipe(int fd) noexcept;

}  // namespace TURTLE_SERVER
