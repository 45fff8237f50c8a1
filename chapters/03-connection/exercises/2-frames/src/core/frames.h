// Messages on a stream, each preceded by its length: four bytes, the high one first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace TURTLE_SERVER {

/// The result of TakeFrame().
enum class FrameStatus : std::uint8_t {
  kNeedMore,  ///< the message is not complete yet
  kFrame,     ///< one message
  kTooLong,   ///< a message longer than the limit: the stream can't continue
};

/// The first message in some bytes.
struct Frame {
  FrameStatus status = FrameStatus::kNeedMore;
  std::string_view message;  ///< with kFrame: a view into the bytes; it may be empty
  std::size_t size = 0;      ///< with kFrame: how many bytes it takes, including its length
};

/// Looks for a message at the front of `bytes`.
///
/// @param bytes received and not yet used: Connection::Read().
/// @param limit the most bytes of a message, without its length.
[[nodiscard]] auto TakeFrame(std::string_view bytes, std::size_t limit) -> Frame;

class Connection;

/// Queues a message, preceded by its length: see Connection::WriteToWriteBuffer().
///
/// @throws std::length_error, "frame of 4294967296 bytes", if its length exceeds four bytes.
void WriteFrame(Connection& connection, std::string_view message);

}  // namespace TURTLE_SERVER
