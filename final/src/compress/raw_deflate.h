// A stream of DEFLATE without a header, for messages that are compressed one by one.
//
// Each message ends at a byte boundary, with an empty block whose last four bytes, 00 00 FF FF,
// are not sent. So a stream may go on with the next message, which can then refer to the last 32
// KiB of those before it (the context), or begin again.
//
// Interface:
//  * RawDeflater::Add() compresses a message. RawInflater::Add() and End() do the opposite.
//  * Reset() forgets the messages so far.
//
// A deflater with a window of 15 bits takes about 256 KiB, an inflater up to 44 KiB.
//
// Thread: one at a time.
// Source: RFC 1951; RFC 7692, section 7.2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/namespace.h"

struct z_stream_s;  // zlib's

namespace TURTLE_SERVER {

/// The least size of a window, as an exponent of two.
inline constexpr int kLeastWindowBits = 8;
/// The largest size of a window, as an exponent of two.
inline constexpr int kMostWindowBits = 15;

/// Compresses messages.
class RawDeflater {
 public:
  /// Throws std::bad_alloc.
  /// @param window_bits how far back a message may refer, as an exponent of two, 8 to 15
  explicit RawDeflater(int window_bits = kMostWindowBits);
  ~RawDeflater();
  RawDeflater(const RawDeflater&) = delete;
  auto operator=(const RawDeflater&) -> RawDeflater& = delete;

  /// Compresses a whole message. Throws std::bad_alloc.
  /// @param plain the message
  /// @param coded gets the result at its end
  void Add(std::string_view plain, std::string& coded);

  /// Forgets all messages: the next one doesn't refer to them.
  void Reset() noexcept;

 private:
  const std::unique_ptr<z_stream_s> stream_;
};

/// The result of RawInflater::Add() and End().
enum class InflateState : std::uint8_t {
  kOk,        ///< all of the input was taken
  kTooLarge,  ///< the output would be longer than allowed
  kDamaged,   ///< the input is no such stream, or its message is cut
};

/// Decompresses messages, piece by piece.
class RawInflater {
 public:
  /// The blocks of one message that may be marked as the last one. Going on after each takes as
  /// long as the decompression of a window, and a message needs only one.
  static constexpr int kMostLastBlocks = 8;

  /// Throws std::bad_alloc.
  explicit RawInflater(int window_bits = kMostWindowBits);
  ~RawInflater();
  RawInflater(const RawInflater&) = delete;
  auto operator=(const RawInflater&) -> RawInflater& = delete;

  /// Decompresses a piece of a message. Throws std::bad_alloc.
  /// @param coded the piece
  /// @param plain gets the result at its end
  /// @param most the bytes that `plain` may have
  [[nodiscard]] auto Add(std::string_view coded, std::string& plain, std::size_t most)
      -> InflateState;

  /// Ends a message: supplies the four bytes that are not sent. As Add(). A message that ends
  /// within a block is damaged.
  [[nodiscard]] auto End(std::string& plain, std::size_t most) -> InflateState;

  /// Forgets all messages.
  void Reset() noexcept;

 private:
  auto GoOnAfterEnd() -> bool;

  const std::unique_ptr<z_stream_s> stream_;
  int last_blocks_ = 0;  // of this message
};

}  // namespace TURTLE_SERVER
