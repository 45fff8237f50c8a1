// Reads a file with a ring, many pieces at a time.
//
// Thread: the ring's owner.
#pragma once

#include <cstddef>
#include <cstdint>

#include "uring/ring.h"

namespace TURTLE_SERVER {

constexpr std::size_t kReadPiece = std::size_t{64} * 1024;  ///< Bytes read by one request.
constexpr unsigned kReadsAtOnce = 32;                       ///< Requests under way at a time.

/// Reads `size` bytes of the file, from `offset` on. The ring must not be used by others meanwhile.
///
/// @param room for `size` bytes; the kernel no longer writes there when the function has returned
///     or thrown
/// @return how many were read: fewer than `size` only if the file ends before
/// @throws std::system_error that names read: "read: Input/output error"
[[nodiscard]] auto ReadFile(Ring& ring, int fd, std::uint64_t offset, char* room, std::size_t size)
    -> std::size_t;

}  // namespace TURTLE_SERVER
