// Decodes Brotli.
//
// Thread: one at a time.
// Source: https://www.brotli.org/decode.html; RFC 7932
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "compress/decoder.h"

struct BrotliDecoderStateStruct;

namespace TURTLE_SERVER {

/// A decoder for br. Windows beyond RFC 7932, section 9.1, are not accepted.
class BrotliDecoder final : public Decoder {
 public:
  /// @throws std::bad_alloc
  BrotliDecoder();

  [[nodiscard]] auto Decode(std::string_view& coded, std::size_t most, std::string& plain)
      -> DecodeState override;

 private:
  struct Deleter {
    void operator()(BrotliDecoderStateStruct* state) const noexcept;
  };

  const std::unique_ptr<BrotliDecoderStateStruct, Deleter> state_;
};

}  // namespace TURTLE_SERVER
