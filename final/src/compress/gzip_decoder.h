// Decodes gzip, by zlib.
//
// Thread: one at a time.
// Source: https://zlib.net/manual.html; RFC 1952
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "compress/decoder.h"

struct z_stream_s;

namespace TURTLE_SERVER {

/// A decoder for gzip. Several members one after the other are one body (RFC 1952, section 2.2).
class GzipDecoder final : public Decoder {
 public:
  /// @throws std::bad_alloc
  GzipDecoder();
  ~GzipDecoder() override;

  [[nodiscard]] auto Decode(std::string_view& coded, std::size_t most, std::string& plain)
      -> DecodeState override;

 private:
  [[nodiscard]] auto Inflate(std::string_view& coded) -> DecodeState;

  const std::unique_ptr<z_stream_s> stream_;
  bool is_done_ = false;  // a member has ended, and no other has begun
};

}  // namespace TURTLE_SERVER
