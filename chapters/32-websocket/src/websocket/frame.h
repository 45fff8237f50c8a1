// The head of a frame: what kind it is, how long its payload is, and how it is masked.
//
//     0               1               2               3
//     F R R R opcode  M  length 7     extended length, 16 or 64 bits ...
//     I S S S         A               then the masking key, 32 bits, if M is set
//     N V V V         S
//       1 2 3         K
//
// Interface:
//  * ParseFrameHead() reads one from the front of the input, in any split.
//  * WriteFrameHead() writes one.
//
// A head that no frame can have is malformed. Whether it may come now, or from this side,
// is for MessageReader to decide.
//
// Thread: pure functions; nothing is allocated.
// Source: RFC 6455, section 5.2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/namespace.h"
#include "websocket/masking.h"

namespace TURTLE_SERVER {

/// The kind of a frame. The others of the 16 values are reserved.
enum class Opcode : std::uint8_t {
  kContinuation = 0,  ///< the next fragment of a message
  kText = 1,          ///< the first frame of a text
  kBinary = 2,        ///< the first frame of any other message
  kClose = 8,         ///< the last frame that its sender sends
  kPing = 9,          ///< to be responded to
  kPong = 10,         ///< the response to a Ping
};

/// Returns true for Close, Ping and Pong: they are short, whole, and may come between the fragments
/// of a message.
[[nodiscard]] constexpr auto IsControl(Opcode opcode) noexcept -> bool {
  return opcode >= Opcode::kClose;
}

/// The most bytes of a frame's head.
inline constexpr std::size_t kMaxFrameHead = 14;
/// The most bytes of a control frame's payload.
inline constexpr std::size_t kMaxControlPayload = 125;

/// One frame's head.
struct FrameHead {
  Opcode opcode = Opcode::kContinuation;  ///< the kind
  bool last = true;                       ///< FIN: the message ends with this frame
  bool compressed = false;                ///< RSV1: the message is compressed (RFC 7692)
  bool masked = false;                    ///< the payload is masked with `key`
  std::uint64_t length = 0;               ///< bytes of payload
  MaskingKey key{};                       ///< of a masked frame
};

/// The result of ParseFrameHead().
enum class FrameState : std::uint8_t {
  kIncomplete,  ///< the head goes on
  kComplete,    ///< the head is read
  kMalformed,   ///< no such frame exists
};

/// The state of a head, and how many bytes of input it takes.
struct FrameResult {
  FrameState state;   ///< see FrameState
  std::size_t bytes;  ///< of a complete head
};

namespace detail {

constexpr auto ByteAt(std::string_view input, std::size_t at) noexcept -> std::uint8_t {
  return static_cast<std::uint8_t>(input[at]);
}

// Only three bits of the first byte are free: RSV2 and RSV3 must be zero, and so must RSV1 of a
// control frame.
constexpr auto IsFirstByte(std::uint8_t byte) noexcept -> bool {
  const int opcode = byte & 0x0F;
  const bool is_control = opcode >= 8;
  const bool is_known = opcode <= 2 || (opcode >= 8 && opcode <= 10);
  return is_known && (byte & 0x30) == 0 && (!is_control || (byte & 0xC0) == 0x80);
}

}  // namespace detail

/// Reads the head at the front of `input`. A malformed one is refused at its first wrong byte.
/// @param input any bytes
/// @param head is set if the result is kComplete
[[nodiscard]] inline auto ParseFrameHead(std::string_view input, FrameHead& head) noexcept
    -> FrameResult {
  if (input.empty()) {
    return {FrameState::kIncomplete, 0};
  }
  const std::uint8_t first = detail::ByteAt(input, 0);
  if (!detail::IsFirstByte(first)) {
    return {FrameState::kMalformed, 0};
  }
  if (input.size() < 2) {
    return {FrameState::kIncomplete, 0};
  }
  const std::uint8_t second = detail::ByteAt(input, 1);
  const std::uint8_t code = second & 0x7F;
  const std::size_t extended = code == 127 ? 8 : code == 126 ? 2 : 0;
  head.opcode = static_cast<Opcode>(first & 0x0F);
  if (IsControl(head.opcode) && extended != 0) {
    return {FrameState::kMalformed, 0};
  }
  head.masked = (second & 0x80) != 0;
  const std::size_t bytes = 2 + extended + (head.masked ? 4 : 0);
  if (input.size() < bytes) {
    return {FrameState::kIncomplete, 0};
  }
  head.last = (first & 0x80) != 0;
  head.compressed = (first & 0x40) != 0;
  head.length = extended == 0 ? code : 0;
  for (std::size_t i = 2; i < 2 + extended; ++i) {
    head.length = head.length << 8 | detail::ByteAt(input, i);
  }
  const std::uint64_t least = extended == 8 ? 0x10000 : extended == 2 ? 126 : 0;
  if (head.length < least || head.length >> 63 != 0) {
    return {FrameState::kMalformed, 0};  // not the shortest form, or longer than the format allows
  }
  for (std::size_t i = 0; head.masked && i < head.key.size(); ++i) {
    head.key[i] = detail::ByteAt(input, 2 + extended + i);
  }
  return {FrameState::kComplete, bytes};
}

/// Writes a head in its shortest form.
/// @param head to write
/// @param into room for kMaxFrameHead bytes
/// @return how many bytes it takes
inline auto WriteFrameHead(const FrameHead& head, char* into) noexcept -> std::size_t {
  const std::size_t extended = head.length > 0xFFFF ? 8 : head.length > 125 ? 2 : 0;
  const int code = extended == 8 ? 127 : extended == 2 ? 126 : static_cast<int>(head.length);
  into[0] = static_cast<char>((head.last ? 0x80 : 0) | (head.compressed ? 0x40 : 0) |
                              static_cast<int>(head.opcode));
  into[1] = static_cast<char>((head.masked ? 0x80 : 0) | code);
  std::size_t size = 2;
  for (std::size_t left = extended; left > 0; --left) {
    into[size++] = static_cast<char>(head.length >> 8 * (left - 1) & 0xFF);
  }
  for (std::size_t i = 0; head.masked && i < head.key.size(); ++i) {
    into[size++] = static_cast<char>(head.key[i]);
  }
  return size;
}

}  // namespace TURTLE_SERVER
