// A file, read by a ring: many pieces under way at a time.
//
// Thread: the ring's owner.
#pragma once

#include <cstddef>
#include <cstdint>

#include "uring/ring.h"

namespace TURTLE_SERVER {

constexpr std::size_t kReadPiece = std::size_t{64} * 1024;  ///< Bytes that one request asks for.
constexpr unsigned kReadsAtOnce = 32;                       ///< Requests under way at a time.

/// Reads `size` bytes from `offset` bytes into the file on. The ring is nobody else's meanwhile.
///
/// @param room for `size` bytes; when the function has returned or thrown, the kernel no longer
/// writes there
/// @return how many were read: fewer than `size` only where the file ends before
/// @throws std::system_error that names read: "read: Input/output error"
[[nodiscard]] auto ReadFile(Ring& ring, int fd, std::uint64_t offset, char* room, std::size_t size)
    -> std::size_t;

}  // namespace TURTLE_SERVER
