// Decodes Zstandard.
//
// Thread: one at a time.
// Source: https://facebook.github.io/zstd/zstd_manual.html; RFC 8878; RFC 9659
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "compress/decoder.h"

struct ZSTD_DCtx_s;

namespace TURTLE_SERVER {

/// A decoder for zstd. Several frames one after the other are one body (RFC 8878, section 3.1);
/// windows beyond 8 MiB are not accepted (RFC 9659, section 3).
class ZstdDecoder final : public Decoder {
 public:
  /// @throws std::bad_alloc
  ZstdDecoder();

  [[nodiscard]] auto Decode(std::string_view& coded, std::size_t most, std::string& plain)
      -> DecodeState override;

 private:
  struct Deleter {
    void operator()(ZSTD_DCtx_s* context) const noexcept;
  };

  const std::unique_ptr<ZSTD_DCtx_s, Deleter> context_;
  DecodeState state_ = DecodeState::kMore;
  bool is_between_ = true;  // two frames, or before the first
  bool is_full_ = false;    // the last call has used all of its room
};

}  // namespace TURTLE_SERVER
