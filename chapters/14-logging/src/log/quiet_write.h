// Writes that neither wait for a socket nor raise SIGPIPE.
//
// A log goes where somebody else reads: a pipe, a terminal, a socket. When the reader has gone,
// write(2) raises SIGPIPE, and that ends the program; a SigpipeBlock keeps it away meanwhile.
//
// Interface:
//  * QuietWrite() and QuietSend() write; a reader that has gone is EPIPE.
//
// Thread: any.
#pragma once

#include <sys/types.h>

#include <string_view>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// As write(2), and goes on after a signal.
/// @return bytes written; -1, and errno: EPIPE, never a SIGPIPE, when nobody reads
auto QuietWrite(int fd, std::string_view bytes) noexcept -> ssize_t;

/// As QuietWrite(), for a socket: does not wait for room, that is EAGAIN.
auto QuietSend(int socket, std::string_view bytes) noexcept -> ssize_t;

}  // namespace TURTLE_SERVER
