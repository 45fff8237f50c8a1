#include "compress/gzip_encoder.h"

#include <zlib.h>

#include <algorithm>
#include <cassert>
#include <limits>
#include <new>

namespace TURTLE_SERVER {

namespace {

// Returns the window as an exponent of two: a match never lies farther back than the body is long.
// zlib wants 9 to 15, and its memory is some eight windows.
auto WindowFor(std::optional<std::size_t> size) noexcept -> int {
  constexpr int kLeast = 9;
  int bits = kLeast;
  while (bits < MAX_WBITS && (!size || *size > std::size_t{1} << bits)) {
    ++bits;
  }
  return bits;
}

auto CodeOf(Flush flush) noexcept -> int {
  return flush == Flush::kEnd ? Z_FINISH : flush == Flush::kPiece ? Z_SYNC_FLUSH : Z_NO_FLUSH;
}

}  // namespace

GzipEncoder::GzipEncoder(Effort effort, std::optional<std::size_t> size)
    : stream_(std::make_unique<z_stream_s>()) {
  constexpr int kLowLevel = 4;  // beyond it, each level takes much longer for few bytes
  constexpr int kHighLevel = 6;
  constexpr int kWithHeader = 16;  // of gzip, in place of zlib's own
  const int window = WindowFor(size);
  const int level = effort == Effort::kHigh ? kHighLevel : kLowLevel;
  const int memory = std::min(window - 7, 8);  // as a power of two of table entries, 1 to 9
  if (deflateInit2(stream_.get(), level, Z_DEFLATED, window + kWithHeader, memory,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
}

GzipEncoder::~GzipEncoder() { deflateEnd(stream_.get()); }

// zlib writes into what room there is, and is called until it leaves some.
void GzipEncoder::Encode(std::string_view plain, Flush flush, std::string& coded) {
  constexpr std::size_t kRoom = std::size_t{16} * 1024;
  std::size_t used = coded.size();
  do {
    const std::size_t count = std::min<std::size_t>(plain.size(), std::numeric_limits<uInt>::max());
    stream_->next_in =
        reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));  // NOLINT: z_const
    stream_->avail_in = static_cast<uInt>(count);
    const bool is_last = count == plain.size();
    do {
      coded.resize(used + kRoom);
      stream_->next_out = reinterpret_cast<Bytef*>(&coded[used]);
      stream_->avail_out = static_cast<uInt>(kRoom);
      const int result = deflate(stream_.get(), is_last ? CodeOf(flush) : Z_NO_FLUSH);
      assert(result != Z_STREAM_ERROR);
      static_cast<void>(result);
      used = coded.size() - stream_->avail_out;
    } while (stream_->avail_out == 0);
    plain.remove_prefix(count);
  } while (!plain.empty());
  coded.resize(used);
}

}  // namespace TURTLE_SERVER
