// Decodes responses for tests, with the libraries' own functions.
#pragma once

#include <brotli/decode.h>
#include <zlib.h>
#include <zstd.h>

#include <string>
#include <string_view>

namespace TURTLE_SERVER::test {

/// Returns the plain bytes of a whole body; "?" and the reason if it is damaged or not complete.
/// @param coding the value of Content-Encoding; "": none
inline auto Decode(std::string_view coding, const std::string& coded) -> std::string {
  constexpr std::size_t kMost = std::size_t{32} << 20;
  std::string plain(kMost, '\0');
  if (coding.empty()) {
    return coded;
  }
  if (coding == "gzip") {
    z_stream stream{};
    inflateInit2(&stream, 15 + 16);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(coded.data()));
    stream.avail_in = static_cast<uInt>(coded.size());
    stream.next_out = reinterpret_cast<Bytef*>(plain.data());
    stream.avail_out = static_cast<uInt>(plain.size());
    const int result = inflate(&stream, Z_FINISH);
    plain.resize(stream.total_out);
    const bool is_whole = result == Z_STREAM_END && stream.avail_in == 0;
    inflateEnd(&stream);
    return is_whole ? plain : "? gzip " + std::to_string(result);
  }
  if (coding == "br") {
    std::size_t size = plain.size();
    const auto result =
        BrotliDecoderDecompress(coded.size(), reinterpret_cast<const std::uint8_t*>(coded.data()),
                                &size, reinterpret_cast<std::uint8_t*>(plain.data()));
    plain.resize(size);
    return result == BROTLI_DECODER_RESULT_SUCCESS ? plain : "? br";
  }
  if (coding == "zstd") {
    const std::size_t size =
        ZSTD_decompress(plain.data(), plain.size(), coded.data(), coded.size());
    if (ZSTD_isError(size) != 0) {
      return std::string("? zstd ") + ZSTD_getErrorName(size);
    }
    plain.resize(size);
    return plain;
  }
  return "? coding " + std::string(coding);
}

/// Returns as much as a client can read of a body of which only the beginning has come.
inline auto DecodeStart(const std::string& gzip) -> std::string {
  std::string plain(std::size_t{1} << 20, '\0');
  z_stream stream{};
  inflateInit2(&stream, 15 + 16);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(gzip.data()));
  stream.avail_in = static_cast<uInt>(gzip.size());
  stream.next_out = reinterpret_cast<Bytef*>(plain.data());
  stream.avail_out = static_cast<uInt>(plain.size());
  inflate(&stream, Z_SYNC_FLUSH);
  plain.resize(stream.total_out);
  inflateEnd(&stream);
  return plain;
}

}  // namespace TURTLE_SERVER::test
