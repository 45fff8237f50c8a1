// Reads the body of one request, whichever way its end is marked (RFC 9112, section 6.3).
//
// Interface:
//  * A reader is made from the framing that the parser found in the head.
//  * TooLarge() knows at once that a declared length will be refused: that answer can come before
//    the client sends the body, and instead of "100 Continue".
//  * Read() is given what has arrived and gives back what of it is content, as a view.
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
  /// Stands at the start of a body.
  /// @param framing of the request
  /// @param limits how much is accepted
  BodyReader(const Framing& framing, const BodyLimits& limits) noexcept;

  /// True if the declared length is beyond the limit: Read() will say 413.
  [[nodiscard]] auto TooLarge() const noexcept -> bool { return too_large_; }

  /// The text of a 413, with a unit: a limit of 64 may have been meant in megabytes.
  [[nodiscard]] auto LimitText() const -> std::string {
    return "The body has more than " + std::to_string(max_bytes_) + " bytes.";
  }

  /// Sets how much content is accepted, before the first Read().
  /// @param most in bytes, inclusive
  void SetMaxBytes(std::uint64_t most) noexcept {
    max_bytes_ = most;
    too_large_ = kind_ == BodyKind::kLength && left_ > most;
    chunks_.SetMaxBytes(most);
  }

  /// How many bytes are still to come, as far as that was said: of the body, or of one chunk.
  [[nodiscard]] auto Announced() const noexcept -> std::uint64_t {
    return kind_ == BodyKind::kChunked ? chunks_.ChunkLeft() : left_;
  }

  /// Reads on.
  ///
  /// To read all that has arrived, repeat it with what is left of the input until that is empty or
  /// the state is not kMore. A body that has no bytes is kDone by the first call, whose input may
  /// be empty.
  /// @param input what follows the bytes consumed so far
  /// @return see BodyResult; after kDone or kBad every further call says the same and consumes
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
