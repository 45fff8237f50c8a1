// Turns a client's frame into the server's echo of it, in the same memory.
//
//     input   [ head, 2 to 10 ][ key, 4 ][ payload, masked ]
//     echo             [ head, 2 to 10 ][ payload          ]
//
// Without its key, the head is 4 bytes shorter. So it fits in front of the payload, and nothing but
// the head is copied.
//
// It checks nothing: not whether the frame is masked, nor its opcode or its reserved bits. That is
// for the floor, and for no other server.
//
// Interface:
//  * EchoInPlace() takes the frame at the front of the input.
//
// Thread: pure.
// Source: RFC 6455, section 5.2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "websocket/masking.h"

namespace TURTLE_SERVER {

/// The result of EchoInPlace().
struct FrameEcho {
  std::size_t used = 0;  ///< Bytes of the frame; 0: it isn't complete.
  std::size_t size = 0;  ///< Bytes of the echo, which are the last of the frame's.
};

/// Unmasks the payload of the frame at the front, and puts the head right before it.
/// @param input is changed if the frame is complete
/// @param size bytes of input
[[nodiscard]] inline auto EchoInPlace(char* input, std::size_t size) noexcept -> FrameEcho {
  constexpr std::size_t kKey = MaskingKey().size();
  if (size < 2) {
    return {};
  }
  std::uint64_t length = static_cast<std::uint8_t>(input[1]) & 0x7F;
  const std::size_t extended = length == 127 ? 8 : length == 126 ? 2 : 0;
  const std::size_t head = 2 + extended;
  if (size < head + kKey) {
    return {};
  }
  if (extended != 0) {
    length = 0;
    for (std::size_t i = 2; i < head; ++i) {
      length = length << 8 | static_cast<std::uint8_t>(input[i]);
    }
  }
  if (size - head - kKey < length) {
    return {};
  }
  MaskingKey key{};
  std::memcpy(key.data(), input + head, kKey);
  char* const payload = input + head + kKey;
  Mask(key, 0, payload, payload, length);
  std::memmove(input + kKey, input, head);
  input[kKey + 1] = static_cast<char>(input[kKey + 1] & 0x7F);
  return {head + kKey + length, head + length};
}

}  // namespace TURTLE_SERVER
