// Masking: every byte that a client sends is XORed with a key of four bytes.
//
// It is no encryption, since the key travels with the frame. It keeps a script from choosing the
// bytes on the line: they could look like a request to a proxy that doesn't know WebSocket, and
// poison its cache.
//
// Interface:
//  * Mask() masks or unmasks a piece, wherever it is in the payload.
//
// Thread: pure functions; nothing is allocated.
// Source: RFC 6455, sections 5.3 and 10.3.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// The key of one frame.
using MaskingKey = std::array<std::uint8_t, 4>;

/// Copies a piece of a payload, and masks or unmasks it: both are the same.
/// @param key of the frame
/// @param offset of the piece within its frame, in bytes; only its lowest two bits matter
/// @param from `count` bytes
/// @param to room for as many; may be `from`, but must not overlap it otherwise
/// @param count of bytes
inline void Mask(const MaskingKey& key, std::uint64_t offset, const char* from, char* to,
                 std::size_t count) noexcept {
  MaskingKey turned{};  // the key as the first byte of this piece sees it
  for (std::size_t i = 0; i < turned.size(); ++i) {
    turned[i] = key[(offset + i) % turned.size()];
  }
  std::uint64_t wide = 0;  // eight bytes at once, and the compiler may make more of them
  std::memcpy(&wide, turned.data(), 4);
  std::memcpy(reinterpret_cast<char*>(&wide) + 4, turned.data(), 4);
  std::size_t i = 0;
  for (; i + sizeof(wide) <= count; i += sizeof(wide)) {
    std::uint64_t word = 0;
    std::memcpy(&word, from + i, sizeof(word));  // a payload begins anywhere, so no aligned load
    word ^= wide;
    std::memcpy(to + i, &word, sizeof(word));
  }
  for (; i < count; ++i) {
    to[i] = static_cast<char>(static_cast<std::uint8_t>(from[i]) ^ turned[i % turned.size()]);
  }
}

}  // namespace TURTLE_SERVER
