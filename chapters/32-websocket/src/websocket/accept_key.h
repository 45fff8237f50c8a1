// Proves to a client that its handshake was understood.
//
// The client sends 16 random bytes in base64. The server appends a text that no other protocol
// would, and sends the SHA-1 of both. A cache, or a server that merely repeats what it gets, can't
// do that. It is no secret and no signature.
//
// Interface:
//  * IsClientKey() checks the client's text.
//  * AcceptKey() makes the server's.
//  * Base64() and Sha1() are what that takes.
//
// Thread: pure functions.
// Source: RFC 6455, section 4.2.2; RFC 4648, section 4; RFC 3174.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Returns the digest of `text`. Broken as a signature, good enough as a handshake.
[[nodiscard]] auto Sha1(std::string_view text) -> std::array<std::uint8_t, 20>;

/// Returns the bytes as base64, padded with '='.
[[nodiscard]] auto Base64(std::string_view bytes) -> std::string;

/// Returns true for a value of Sec-WebSocket-Key: 16 bytes in base64.
[[nodiscard]] auto IsClientKey(std::string_view key) noexcept -> bool;

/// Returns the value of Sec-WebSocket-Accept.
/// @param key of the client, as it was sent
[[nodiscard]] auto AcceptKey(std::string_view key) -> std::string;

}  // namespace TURTLE_SERVER
