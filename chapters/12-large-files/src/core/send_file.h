// The parts of sending that differ between kernels: flags, and a file's way into a socket without
// passing through the program.
//
// Interface: SendFile() is in send_file_linux.cpp and send_file_bsd.cpp, each over its kernel's
// sendfile(2); both fall back to CopyFile() for files that sendfile(2) refuses (EINVAL: some
// network and special file systems cannot lend their pages).
//
// Thread: any.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/io_result.h"

namespace TURTLE_SERVER {

/// The flags for send(2) and sendmsg(2): never SIGPIPE and, where the kernel knows how (MSG_MORE,
/// Linux), a short last segment waits for what follows instead of going out alone.
/// @param more_follows more will be sent at once, or the FIN
/// @return the flags
[[nodiscard]] auto SendFlags(bool more_follows) noexcept -> int;

/// Sends a part of a file. A broken connection is EPIPE, never SIGPIPE, which sendfile(2) raises
/// by itself, having no flags.
/// @param socket a connected, non-blocking stream socket
/// @param file an open file that can be read at any offset
/// @param offset where to read, in bytes
/// @param count how many bytes to send at most; not 0
/// @return kBytes and how many were sent, possibly fewer; kWouldBlock; kEnd: the file ends at
///     `offset`; kError and errno
auto SendFile(int socket, int file, std::uint64_t offset, std::size_t count) -> IoResult;

/// The most bytes that CopyFile() sends.
constexpr std::size_t kCopiedBytes = std::size_t{16} * 1024;

/// The same by pread(2) and send(2), at most kCopiedBytes at a time.
/// @param socket a connected, non-blocking stream socket
/// @param file an open file that can be read at any offset
/// @param offset where to read, in bytes
/// @param count how many bytes to send at most; not 0
/// @return as SendFile()
auto CopyFile(int socket, int file, std::uint64_t offset, std::size_t count) -> IoResult;

}  // namespace TURTLE_SERVER
