// The outcome of one read or write on a socket.
//
// Reading and writing are the data path, so they never throw: a peer that has left is not
// exceptional there, it is how every connection ends.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// How a read or a write ended.
enum class IoStatus : std::uint8_t {
  kBytes,  ///< `bytes` bytes were moved; a write may have moved fewer than it was given
  kEnd,    ///< the peer has finished sending; reading only
  kError,  ///< `error` says why, as an errno value
};

/// Result of Socket::Recv() and Socket::Send().
struct [[nodiscard]] IoResult {
  IoStatus status = IoStatus::kError;  ///< which of the following fields is valid
  std::size_t bytes = 0;               ///< with kBytes: how many
  int error = 0;                       ///< with kError: an errno value
};

}  // namespace TURTLE_SERVER
