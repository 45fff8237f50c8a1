// Sends a file to a socket by splice(2) on a ring: its bytes never enter the program's memory.
//
// Thread: the ring's owner.
#pragma once

#include <cstdint>

#include "uring/ring.h"

namespace TURTLE_SERVER {

/// Sends `size` bytes of `file`, from `offset` on, to a connected socket, and waits until the
/// kernel has taken them. It uses two linked splices: from the file into a pipe, and from the pipe
/// to the socket. The socket may be non-blocking. The ring must not be used by others meanwhile.
///
/// @return how many bytes were sent: fewer than `size` only if the file ends before
/// @throws std::system_error that names the call: "splice: Broken pipe" if the other side is
///     closed, without a signal; "pipe2: Too many open files"
[[nodiscard]] auto SpliceFile(Ring& ring, int file, std::uint64_t offset, std::uint64_t size,
                              int socket) -> std::uint64_t;

}  // namespace TURTLE_SERVER
