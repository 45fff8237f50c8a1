// One client, one loop: listeners that share a port, and a program in the kernel that chooses.
//
// Thread: any.
#pragma once

namespace TURTLE_SERVER {

/// Has the kernel choose the listener by the client's IPv4 address, so that all connections of a
/// client come to one loop. The address as a number, its first part the most significant, modulo
/// `count`, is the index of the listener in OpenListeners().
/// @param listener one of several of OpenListeners(); the choice is made for all of them
/// @param count how many there are
/// @return 0, or why it can't be, an errno value: EAFNOSUPPORT for a listener that is not IPv4,
///     EINVAL for a `count` of 0 and for a listener that shares its port with nobody
[[nodiscard]] auto SteerByAddress(int listener, unsigned count) noexcept -> int;

}  // namespace TURTLE_SERVER
