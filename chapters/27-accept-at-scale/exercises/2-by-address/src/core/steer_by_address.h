// Sends each client to one loop: listeners share a port, and a program in the kernel chooses.
//
// Thread: any.
#pragma once

namespace TURTLE_SERVER {

/// Makes the kernel choose the listener by the client's IPv4 address, so that all connections of a
/// client reach one loop. The address as a number, its first part the most significant, modulo
/// `count`, is the index of the listener in OpenListeners().
/// @param listener one of several of OpenListeners(); the choice applies to all of them
/// @param count how many there are
/// @return 0 or an errno value: EAFNOSUPPORT for a listener that is not IPv4, EINVAL for a `count`
///     of 0 and for a listener that does not share its port
[[nodiscard]] auto SteerByAddress(int listener, unsigned count) noexcept -> int;

}  // namespace TURTLE_SERVER
