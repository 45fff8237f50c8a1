// Chooses the source address of a connection to this machine.
//
// A connection is named by both addresses and both ports, and the name is taken for a minute after
// its end (TIME_WAIT). From one address to one port there are some 28,000 names: a load generator
// that opens a connection for each request has used them up after a second. All of 127.0.0.0/8 is
// this machine, so it may call from many addresses.
//
// Interface:
//  * BindLoopbackSource() gives a socket one of 64 source addresses.
//
// Thread: any.
#pragma once

#include <cstdint>

#include "core/net_address.h"

namespace TURTLE_SERVER {

/// Returns true if `server` is in 127.0.0.0/8, and this system can connect from others of these.
[[nodiscard]] auto HasLoopbackSources(const NetAddress& server) -> bool;

/// Gives a socket that is to be connected to a loopback address a source address. The port is
/// chosen by connect(2), which knows the other end: chosen by bind(2), it would have to be free for
/// all of them.
/// @param fd a new socket of IPv4
/// @param number consecutive numbers give different addresses
/// @return 0 or an errno value
[[nodiscard]] auto BindLoopbackSource(int fd, std::uint32_t number) noexcept -> int;

}  // namespace TURTLE_SERVER
