// Encodes with Zstandard.
//
// Thread: one at a time.
// Source: https://facebook.github.io/zstd/zstd_manual.html; RFC 8878
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "compress/encoder.h"

struct ZSTD_CCtx_s;

namespace TURTLE_SERVER {

/// An encoder for zstd.
class ZstdEncoder final : public Encoder {
 public:
  /// @param effort how hard it tries
  /// @param size of the whole body in bytes, if it is known
  /// @throws std::bad_alloc
  explicit ZstdEncoder(Effort effort, std::optional<std::size_t> size = std::nullopt);

  void Encode(std::string_view plain, Flush flush, std::string& coded) override;

 private:
  struct Deleter {
    void operator()(ZSTD_CCtx_s* context) const noexcept;
  };

  const std::unique_ptr<ZSTD_CCtx_s, Deleter> context_;
};

}  // namespace TURTLE_SERVER
