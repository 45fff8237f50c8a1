// The codes with which a WebSocket ends.
//
// Source: RFC 6455, section 7.4, and the registry of the IANA.
//
// Thread: pure functions.
#pragma once

#include <cstdint>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Why a WebSocket ends. Applications may use 3000 to 4999: static_cast<CloseCode>(4000).
enum class CloseCode : std::uint16_t {
  kNormal = 1000,            ///< its purpose is fulfilled
  kGoingAway = 1001,         ///< the server stops, or the browser leaves the page
  kProtocolError = 1002,     ///< bytes that are no frames, or frames in a wrong order
  kUnsupported = 1003,       ///< a kind of message that the receiver doesn't take
  kNoCode = 1005,            ///< never sent: the peer's Close frame had no code
  kAbnormal = 1006,          ///< never sent: the connection ended without a Close frame
  kInvalidPayload = 1007,    ///< text that is not UTF-8, or data that can't be decompressed
  kPolicyViolation = 1008,   ///< any rule of the receiver, such as how slowly a client may read
  kTooBig = 1009,            ///< a message beyond the receiver's limit
  kMissingExtension = 1010,  ///< sent by clients only: the server lacks an extension
  kInternalError = 1011,     ///< the server can't go on
  kTryAgainLater = 1013,     ///< the server has too much to do
};

/// Returns true for a code that a Close frame may carry. 1004 to 1006 and 1015 are only for
/// programs, 1016 to 2999 are reserved.
[[nodiscard]] constexpr auto IsSendable(std::uint16_t code) noexcept -> bool {
  return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) ||
         (code >= 3000 && code <= 4999);
}

/// Returns true for a code that a Close frame may carry.
[[nodiscard]] constexpr auto IsSendable(CloseCode code) noexcept -> bool {
  return IsSendable(static_cast<std::uint16_t>(code));
}

}  // namespace TURTLE_SERVER
