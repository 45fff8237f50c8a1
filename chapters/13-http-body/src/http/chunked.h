// The chunked transfer coding: a body whose size is not known when it begins (RFC 9112,
// section 7.1).
//
//     4\r\nWiki\r\n  5;name=value\r\npedia\r\n  0\r\nTrailer: x\r\n\r\n
//
// Interface:
//  * ChunkedDecoder reads it incrementally, without I/O, allocation or copy. It may be given any
//    pieces, down to single bytes; its state within a line is a few integers.
//  * BodyLimits and BodyResult are shared by every reader of a body, http/body_reader.h.
//  * ChunkHead, kChunkEnd and kLastChunk write it.
//
// Reading is strict: a lone LF, a space before the CR, a size with too many digits, or a folded
// trailer is refused. Two programs that read such input differently see different requests after
// it. Chunk extensions mean nothing here: their grammar is checked (section 7.1.1), then they are
// dropped. So are trailer fields (section 7.1.2 allows it): none can pose as a header field.
//
// Thread: a decoder belongs to one thread; the rest is pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// The state of reading a body.
enum class BodyState : std::uint8_t {
  kMore,  ///< continue with the bytes after the consumed ones, now or when they have arrived
  kDone,  ///< the body is complete: the next bytes belong to the next request
  kBad,   ///< respond with `status` and close: the start of the next request is unknown
};

/// The result of one step. It consumes something, unless it is kBad or the input was empty.
struct [[nodiscard]] BodyResult {
  BodyState state = BodyState::kMore;  ///< how to go on
  std::size_t consumed = 0;            ///< how many bytes of the input were used up
  std::string_view data{};  ///< content: a view into the input; may be empty, even with kMore
  int status = 0;           ///< with kBad: 400, 413 or 431
  const char* reason = "";  ///< with kBad: what is wrong, for a person; a literal
};

/// Limits how much of a body is accepted.
struct BodyLimits {
  std::uint64_t max_body_bytes = std::uint64_t{1024} * 1024;  ///< of content; above it: 413
  /// Of chunk extensions in excess of the content before them; above it: 400. Some clients sign
  /// every chunk; nobody needs extensions that are larger than the content.
  std::size_t max_extension_bytes = std::size_t{16} * 1024;
  /// Of all trailer fields, each up to the CR at its end; above it: 431.
  std::size_t max_trailer_bytes = std::size_t{8} * 1024;
};

/// Decodes one chunked body.
class ChunkedDecoder {
 public:
  /// Starts at the beginning of a body.
  explicit ChunkedDecoder(const BodyLimits& limits) noexcept;

  /// Sets how much content is accepted, before the first Read().
  /// @param most the limit in bytes, inclusive
  void SetMaxBytes(std::uint64_t most) noexcept { body_left_ = most; }

  /// Returns how many bytes of the current chunk are still to come, by its size.
  [[nodiscard]] auto ChunkLeft() const noexcept -> std::uint64_t {
    return place_ == Place::kContent ? chunk_left_ : 0;
  }

  /// Reads up to the end of `input` or of the body, or to where a second run of content begins. The
  /// framing around the first run is read with it, and so may be the end of the body.
  /// @param input the bytes that follow those consumed so far
  /// @return see BodyResult; with kBad the bytes before the fault are consumed; after kDone or kBad
  ///     every further call returns the same and consumes nothing
  [[nodiscard]] auto Read(std::string_view input) noexcept -> BodyResult;

 private:
  // The meaning of the next byte.
  enum class Place : std::uint8_t {
    kSizeStart,        // the first digit of a size
    kSize,             // another digit, or the end of the size
    kBeforeExtension,  // whitespace, then ';'
    kNameStart,        // whitespace, then an extension's name
    kName,             // more of it, or its end
    kBehindName,       // whitespace, then '=' or ';'
    kValueStart,       // whitespace, then an extension's value
    kValue,            // more of a token, or its end
    kQuoted,           // a quoted string
    kEscaped,          // the byte that a backslash protects
    kQuotedEnd,        // the end of an extension after a quoted string
    kSizeEnd,          // LF
    kContent,          // the bytes of the chunk
    kContentCr,        // the CR after them
    kContentLf,        // LF, then the next size
    kTrailerStart,     // a trailer's name, or the CR of the empty line
    kTrailerName,      // more of the name, or ':'
    kTrailerValue,     // more of the value, or CR
    kTrailerLf,        // LF, then the next trailer
    kEndLf,            // LF of the empty line, which ends the body
    kDone,
    kBad,
  };

  auto Step(char c) noexcept -> bool;
  auto AddDigit(int digit) noexcept -> bool;
  auto AddExtensionByte(char c) noexcept -> bool;
  static auto PlaceBehind(Place place, char c) noexcept -> Place;
  auto AddTrailerByte(char c) noexcept -> bool;
  auto StartChunk() noexcept -> bool;
  auto Fail(int status, const char* reason) noexcept -> bool;

  Place place_ = Place::kSizeStart;
  std::uint8_t digits_ = 0;       // of the current size
  std::uint16_t status_ = 0;      // with kBad
  const char* reason_ = "";       // with kBad
  std::uint64_t chunk_left_ = 0;  // of the current size, then of the content
  std::uint64_t body_left_;       // content that is still allowed
  std::uint64_t extensions_ = 0;  // bytes not yet outweighed by content
  std::uint64_t max_extensions_;
  std::uint64_t trailer_left_;  // bytes still allowed, up to the CR of each line
};

/// The line before the content of a chunk: "1a0\r\n".
class ChunkHead {
 public:
  /// @param size the size of the content in bytes; not 0, which would be the last chunk
  explicit ChunkHead(std::uint64_t size) noexcept;

  /// Returns the line; valid as long as this object.
  [[nodiscard]] auto View() const noexcept -> std::string_view {
    return {text_.data() + start_, text_.size() - start_};
  }

 private:
  std::array<char, 18> text_{};  // 16 digits and CR LF, filled from the back
  std::size_t start_;
};

/// The bytes after the content of every chunk.
inline constexpr std::string_view kChunkEnd = "\r\n";

/// The end of the body, without trailers.
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace TURTLE_SERVER
