// Messages on a stream: each after its length, four bytes, the high one first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace TURTLE_SERVER {

/// The result of TakeFrame().
enum class FrameStatus : std::uint8_t {
  kNeedMore,  ///< the message is not complete yet
  kFrame,     ///< one message
  kTooLong,   ///< a message that is longer than the limit: there is no way on
};

/// The first message of some bytes.
struct Frame {
  FrameStatus status = FrameStatus::kNeedMore;
  std::string_view message;  ///< with kFrame: a view into the bytes; it may be empty
  std::size_t size = 0;      ///< with kFrame: how many bytes it takes, its length included
};

/// Looks for a message at the front of `bytes`.
///
/// @param bytes what has arrived and was not used: Connection::Read().
/// @param limit the most bytes that a message may have, its length not counted.
[[nodiscard]] auto TakeFrame(std::string_view bytes, std::size_t limit) -> Frame;

class Connection;

/// Queues a message after its length: see Connection::WriteToWriteBuffer().
///
/// @throws std::length_error, "frame of 4294967296 bytes", when four bytes can't say its length.
void WriteFrame(Connection& connection, std::string_view message);

}  // namespace TURTLE_SERVER
