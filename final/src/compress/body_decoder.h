// Decodes the body of one request within limits.
//
//     decoder.Add(coded, last);
//     while (wants_plain && !decoder.WantsInput()) {
//       const DecodedPiece piece = decoder.Next();
//       ...
//     }
//
// A few coded bytes may become many pieces, and the handler may have to pause between two of them.
// So the decoder works only as far as it is asked, and keeps the coded bytes until then. These are
// never more than one call of Add() has brought.
//
// Interface:
//  * Add() takes the next coded bytes. WantsInput() tells when.
//  * Next() returns the next plain bytes, or the reason for which there are none.
//
// Thread: one at a time.
// Source: RFC 9110, section 8.4
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/namespace.h"
#include "compress/coding.h"
#include "compress/decoder.h"

namespace TURTLE_SERVER {

/// How much a body may grow when it is decoded.
struct DecodeLimits {
  std::uint64_t max_bytes;  ///< plain bytes, inclusive
  std::size_t max_ratio;    ///< plain bytes for each coded one, after BodyDecoder::kFreeBytes
};

/// The result of BodyDecoder::Next().
struct DecodedPiece {
  std::string_view plain;  ///< valid until the next call of any function; may be empty
  bool last = false;       ///< the body ends with this piece
  int status = 0;          ///< of the error page for a body that can't be decoded; 0: it can
  std::string reason{};    ///< for its text
};

/// The decoder of one body.
class BodyDecoder {
 public:
  /// The most that Next() returns, in bytes.
  static constexpr std::size_t kMaxPiece = std::size_t{64} * 1024;

  /// The plain bytes that a body may have whatever its ratio: an empty form may be all zeros.
  static constexpr std::uint64_t kFreeBytes = std::uint64_t{1024} * 1024;

  /// @param coding not kIdentity
  /// @param limits copied
  /// @throws std::bad_alloc
  BodyDecoder(Coding coding, const DecodeLimits& limits);

  /// Returns true if Next() has nothing to work on. It stays false after the last
  /// Add().
  [[nodiscard]] auto WantsInput() const noexcept -> bool { return wants_input_; }

  /// Takes the next coded bytes. Only while WantsInput() is true.
  /// @param coded may be empty; copied
  /// @param last true if the body ends with them
  /// @throws std::bad_alloc
  void Add(std::string_view coded, bool last);

  /// Decodes on. Not called after the last piece, or after an error. A body without any coded byte
  /// is an empty one.
  /// @return a piece, which is empty at the end of the input; or status 400 for a body that is
  ///     damaged or ends too early, 413 for one beyond a limit
  /// @throws std::bad_alloc
  [[nodiscard]] auto Next() -> DecodedPiece;

 private:
  [[nodiscard]] auto IsBomb() const noexcept -> bool;

  const Coding coding_;
  const DecodeLimits limits_;
  std::unique_ptr<Decoder> decoder_;
  std::string coded_;              // of the last Add()
  std::size_t taken_ = 0;          // bytes of it that are decoded
  std::string plain_;              // the last piece
  std::uint64_t coded_bytes_ = 0;  // of the body, decoded
  std::uint64_t plain_bytes_ = 0;  // of the body
  bool wants_input_ = true;
  bool has_all_ = false;  // the last coded bytes were added
};

}  // namespace TURTLE_SERVER
