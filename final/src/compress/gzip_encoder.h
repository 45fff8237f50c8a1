// Encodes with gzip, by zlib.
//
// Thread: one at a time.
// Source: https://zlib.net/manual.html; RFC 1952
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "compress/encoder.h"

struct z_stream_s;

namespace TURTLE_SERVER {

/// An encoder for gzip.
class GzipEncoder final : public Encoder {
 public:
  /// @param effort how hard it tries
  /// @param size of the whole body in bytes, if it is known
  /// @throws std::bad_alloc
  explicit GzipEncoder(Effort effort, std::optional<std::size_t> size = std::nullopt);
  ~GzipEncoder() override;

  void Encode(std::string_view plain, Flush flush, std::string& coded) override;

 private:
  const std::unique_ptr<z_stream_s> stream_;
};

}  // namespace TURTLE_SERVER
