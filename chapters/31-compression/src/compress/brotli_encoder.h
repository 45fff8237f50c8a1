// Encodes with Brotli.
//
// Thread: one at a time.
// Source: https://www.brotli.org/encode.html; RFC 7932
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compress/brotli_memory.h"
#include "compress/encoder.h"

struct BrotliEncoderStateStruct;

namespace TURTLE_SERVER {

/// An encoder for br.
class BrotliEncoder final : public Encoder {
 public:
  /// @param effort how hard it tries
  /// @param size of the whole body in bytes, if it is known
  /// @throws std::bad_alloc
  explicit BrotliEncoder(Effort effort, std::optional<std::size_t> size = std::nullopt);

  void Encode(std::string_view plain, Flush flush, std::string& coded) override;

 private:
  BrotliMemory memory_;
  BrotliEncoderStateStruct* state_ = nullptr;  // in memory_, and goes with it
};

}  // namespace TURTLE_SERVER
