// Reads the body of one request, however its end is marked (RFC 9112, section 6.3).
//
// Interface:
//  * A reader is made from the framing that the parser found in the head.
//  * TooLarge() knows at once that a declared length will be refused: that response can be sent
//    before the client sends the body, and instead of "100 Continue".
//  * Read() takes the bytes that have arrived and returns the content among them, as a view.
//
// Thread: one at a time. No I/O, no allocation, no copy.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "http/chunked.h"
#include "http/request.h"

namespace TURTLE_SERVER {

/// The state of one body.
class BodyReader {
 public:
  /// Starts at the beginning of a body.
  /// @param framing of the request's body
  /// @param limits how much is accepted
  BodyReader(const Framing& framing, const BodyLimits& limits) noexcept;

  /// True if the declared length is beyond the limit: Read() will say 413.
  [[nodiscard]] auto TooLarge() const noexcept -> bool { return too_large_; }

  /// Returns the text of a 413, with a unit: a limit of 64 may have been meant in megabytes.
  [[nodiscard]] auto LimitText() const -> std::string {
    return "The body has more than " + std::to_string(max_bytes_) + " bytes.";
  }

  /// Sets how much content is accepted, before the first Read().
  /// @param most the limit in bytes, inclusive
  void SetMaxBytes(std::uint64_t most) noexcept {
    max_bytes_ = most;
    too_large_ = kind_ == BodyKind::kLength && left_ > most;
    chunks_.SetMaxBytes(most);
  }

  /// Returns how many bytes are still to come, as far as announced: of the body, or of one chunk.
  [[nodiscard]] auto Announced() const noexcept -> std::uint64_t {
    return kind_ == BodyKind::kChunked ? chunks_.ChunkLeft() : left_;
  }

  /// Reads the next bytes.
  ///
  /// To read all that has arrived, repeat it with the rest of the input until that is empty or the
  /// state is not kMore. A body without bytes is kDone by the first call, whose input may be
  /// empty.
  /// @param input the bytes that follow those consumed so far
  /// @return see BodyResult; after kDone or kBad every further call returns the same and consumes
  ///     nothing
  [[nodiscard]] auto Read(std::string_view input) noexcept -> BodyResult;

 private:
  BodyKind kind_;
  std::uint64_t max_bytes_;
  bool too_large_;
  std::uint64_t left_;  // BodyKind::kLength: bytes still to come
  ChunkedDecoder chunks_;
};

}  // namespace TURTLE_SERVER
