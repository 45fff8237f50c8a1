// The parts of sending that differ between kernels: flags, and sending a file without passing its
// bytes through the program.
//
// Interface: SendFile() is in send_file_linux.cpp and send_file_bsd.cpp, each based on its kernel's
// sendfile(2). Both fall back to CopyFile() for files that sendfile(2) refuses (EINVAL: some
// network and special file systems cannot lend their pages).
//
// Thread: any.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/io_result.h"

namespace TURTLE_SERVER {

/// Returns the flags for send(2) and sendmsg(2): never SIGPIPE and, where the kernel can (MSG_MORE,
/// Linux), a short last segment waits for more instead of going out alone.
/// @param more_follows more bytes, or the FIN, will be sent at once
/// @return the flags
[[nodiscard]] auto SendFlags(bool more_follows) noexcept -> int;

/// Sends a part of a file. A broken connection is EPIPE, never SIGPIPE, which sendfile(2) has no
/// flag to suppress.
/// @param socket a connected, non-blocking stream socket
/// @param file an open file that can be read at any offset
/// @param offset where to start reading, in bytes
/// @param count the most bytes to send; not 0
/// @return kBytes and how many were sent, possibly fewer; kWouldBlock; kEnd: the file ends at
///     `offset`; kError and errno
auto SendFile(int socket, int file, std::uint64_t offset, std::size_t count) -> IoResult;

/// The most bytes that CopyFile() sends.
constexpr std::size_t kCopiedBytes = std::size_t{16} * 1024;

/// Does the same by pread(2) and send(2), at most kCopiedBytes at a time.
/// @param socket a connected, non-blocking stream socket
/// @param file an open file that can be read at any offset
/// @param offset where to start reading, in bytes
/// @param count the most bytes to send; not 0
/// @return as SendFile()
auto CopyFile(int socket, int file, std::uint64_t offset, std::size_t count) -> IoResult;

}  // namespace TURTLE_SERVER
