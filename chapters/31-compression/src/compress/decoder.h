// Decodes a request's body piece by piece.
//
// Interface:
//  * Decode() takes coded bytes and gives out plain ones, as many as the caller wants.
//    compress/make_decoder.h makes the decoder of a coding.
//
// The bytes come from a stranger. A few of them may stand for gigabytes, so the caller says how
// much room there is, and takes the rest later. A decoder's own memory is bounded by the largest
// window that its coding allows: 32 KiB for gzip, 8 MiB for zstd, 16 MiB for br.
//
// Thread: one at a time.
// Source: RFC 1952 (gzip); RFC 7932 (br); RFC 8878 and RFC 9659 (zstd)
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// The state of a decoder after a call.
enum class DecodeState : std::uint8_t {
  kMore,  ///< it needs room if it has filled what there was, otherwise coded bytes
  kDone,  ///< it needs nothing: the coded bytes may end here, and all plain ones were given out
  kBad    ///< the bytes are not valid
};

/// The decoder of one body.
class Decoder {
 public:
  virtual ~Decoder() = default;
  Decoder(const Decoder&) = delete;
  auto operator=(const Decoder&) -> Decoder& = delete;

  /// Decodes the next bytes. Not called again after kBad.
  ///
  /// After kDone more bytes may be given: gzip and zstd allow several members or frames, one after
  /// the other. With br, and if the bytes don't begin another member, they are kBad.
  /// @param coded the bytes after those that were taken; those taken now are cut off its front, and
  ///     are all of them unless the room is full. May be empty.
  /// @param most the room in bytes, at least 1
  /// @param plain gets at most `most` decoded bytes, appended; in the case of kBad perhaps some too
  /// @return what comes next
  /// @throws std::bad_alloc
  [[nodiscard]] virtual auto Decode(std::string_view& coded, std::size_t most, std::string& plain)
      -> DecodeState = 0;

 protected:
  Decoder() = default;
};

}  // namespace TURTLE_SERVER
