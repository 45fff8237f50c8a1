// Encodes a response piece by piece.
//
// Interface:
//  * Encode() takes the next bytes.
//  * MakeEncoder() (compress/make_encoder.h) makes the encoder of a coding.
//
// How much an encoder may hold back is the caller's choice: a reader of events wants each piece at
// once, a reader of a large page wants few bytes.
//
// Thread: one at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// The bytes that an encoder has to give out at the end of a call.
enum class Flush : std::uint8_t {
  kNone,   ///< as much as it likes: more will follow
  kPiece,  ///< everything so far, so that the client can read it
  kEnd     ///< everything, and the mark of the end
};

/// The time that is spent on few bytes.
enum class Effort : std::uint8_t {
  kLow,  ///< for bytes that are sent once
  kHigh  ///< for bytes that are kept, and sent often
};

/// The encoder of one body.
class Encoder {
 public:
  virtual ~Encoder() = default;
  Encoder(const Encoder&) = delete;
  auto operator=(const Encoder&) -> Encoder& = delete;

  /// Encodes the next bytes. Not called again after Flush::kEnd.
  /// @param plain may be empty
  /// @param flush how much has to be in `coded` afterwards
  /// @param coded gets the encoded bytes, appended
  /// @throws std::bad_alloc
  virtual void Encode(std::string_view plain, Flush flush, std::string& coded) = 0;

 protected:
  Encoder() = default;
};

}  // namespace TURTLE_SERVER
