// Byte ranges: the part of a representation that a client asks for (RFC 9110, section 14).
//
// Interface:
//  * ParseRange() turns a Range field into the parts to send, or into 416, or into "send it all".
//  * AppendContentRange() and AppendUnsatisfiedRange() write Content-Range for 206 and for 416.
//  * AppendPartHead() and AppendPartsEnd() write the text around the parts of a
//    multipart/byteranges body.
//
// A Range may always be ignored, and one that is malformed or greedy is. A few bytes of
// "0-,0-,0-,..." must not make a server send a file a thousand times. Parts that overlap or nearly
// touch are joined, so no byte is ever sent twice. More than kMaxRanges parts are not served as
// parts at all.
//
// Thread: pure functions; only appending allocates.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// `length` bytes from `offset` on; never empty.
struct ByteRange {
  std::uint64_t offset = 0;  ///< in bytes, from the start of the representation
  std::uint64_t length = 0;  ///< in bytes

  /// True for the same bytes.
  friend auto operator==(const ByteRange& a, const ByteRange& b) -> bool {
    return a.offset == b.offset && a.length == b.length;
  }
};

/// The parts that a Range field requests of a representation.
class RangeSet {
 public:
  /// The most parts that are served.
  static constexpr std::size_t kMaxRanges = 16;
  /// Parts with a smaller gap, in bytes, are joined: the head of another part would cost more.
  static constexpr std::uint64_t kMinGap = 80;

  /// How to respond.
  enum class State : std::uint8_t {
    kWhole,          ///< as if there were no Range: 200
    kParts,          ///< 206 with the parts, in the order in which they were requested
    kUnsatisfiable,  ///< 416
  };

  /// Returns how to respond.
  [[nodiscard]] auto GetState() const noexcept -> State { return state_; }

  /// Returns the number of parts: with kParts at least 1, otherwise 0. One part is sent by itself,
  /// several as multipart/byteranges.
  [[nodiscard]] auto Size() const noexcept -> std::size_t { return size_; }

  /// Returns a part; `index` is less than Size().
  [[nodiscard]] auto operator[](std::size_t index) const noexcept -> const ByteRange& {
    return ranges_[index];
  }

  /// Returns the first part, for range-based loops.
  [[nodiscard]] auto begin() const noexcept -> const ByteRange* { return ranges_.data(); }

  /// Returns the end of the parts.
  [[nodiscard]] auto end() const noexcept -> const ByteRange* { return begin() + size_; }

 private:
  friend auto ParseRange(std::string_view value, std::uint64_t size) -> RangeSet;

  auto Add(ByteRange range) noexcept -> bool;

  State state_ = State::kWhole;
  std::size_t size_ = 0;
  std::array<ByteRange, kMaxRanges> ranges_{};
};

/// Reads a Range field.
/// @param value such as "bytes=0-499,-500"
/// @param size the size of the representation, in bytes
/// @return how to respond. kWhole for a unit other than bytes, for a malformed value and for too
///     many parts.
[[nodiscard]] auto ParseRange(std::string_view value, std::uint64_t size) -> RangeSet;

/// Appends the value of Content-Range for a part: "bytes 0-499/1234".
void AppendContentRange(const ByteRange& range, std::uint64_t size, std::string& out);

/// Appends the value of Content-Range for 416: "bytes *" and "/1234".
void AppendUnsatisfiedRange(std::uint64_t size, std::string& out);

/// Appends the head of a part of a multipart/byteranges body: boundary line, Content-Type,
/// Content-Range, empty line.
/// @param boundary as in the response's Content-Type; must not occur in the parts
/// @param content_type of the whole representation; "" for none
/// @param range the part
/// @param size the size of the representation, in bytes
/// @param out is appended to
void AppendPartHead(std::string_view boundary, std::string_view content_type,
                    const ByteRange& range, std::uint64_t size, std::string& out);

/// Appends the text after the last part.
void AppendPartsEnd(std::string_view boundary, std::string& out);

}  // namespace TURTLE_SERVER
