// The outcome of one read or write on a socket.
//
// Reading and writing are the data path, so they never throw: a peer that has left is not
// exceptional there, it is how every connection ends.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// How a read or a write ended.
enum class IoStatus : std::uint8_t {
  kBytes,       ///< `bytes` bytes were moved; a write may have moved fewer than it was given
  kEnd,         ///< the peer has finished sending; reading only
  kWouldBlock,  ///< nothing to read, or no room to write, at the moment; non-blocking sockets only
  kError,       ///< `error` says why, as an errno value
};

/// Result of Socket::Recv() and Socket::Send().
struct [[nodiscard]] IoResult {
  IoStatus status = IoStatus::kError;  ///< which of the following fields is valid
  std::size_t bytes = 0;               ///< with kBytes: how many
  int error = 0;                       ///< with kError: an errno value
};

/// Classifies a failed read or write.
/// @param error errno after the call, not EINTR
/// @return kWouldBlock or kError
constexpr auto IoFailure(int error) noexcept -> IoResult {
  // On Linux they are the same number, but POSIX allows two.
  const bool would_block = error == EAGAIN || error == EWOULDBLOCK;
  return would_block ? IoResult{IoStatus::kWouldBlock, 0, 0} : IoResult{IoStatus::kError, 0, error};
}

}  // namespace TURTLE_SERVER
