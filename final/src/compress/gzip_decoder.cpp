#include "compress/gzip_decoder.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>

namespace TURTLE_SERVER {

GzipDecoder::GzipDecoder() : stream_(std::make_unique<z_stream_s>()) {
  constexpr int kGzipOnly = 16;  // never zlib's own header
  if (inflateInit2(stream_.get(), MAX_WBITS + kGzipOnly) != Z_OK) {
    throw std::bad_alloc();
  }
}

GzipDecoder::~GzipDecoder() { inflateEnd(stream_.get()); }

auto GzipDecoder::Decode(std::string_view& coded, std::size_t most, std::string& plain)
    -> DecodeState {
  const std::size_t before = plain.size();
  const std::size_t room = std::min<std::size_t>(most, std::numeric_limits<uInt>::max());
  plain.resize(before + room);
  stream_->next_out = reinterpret_cast<Bytef*>(&plain[before]);
  stream_->avail_out = static_cast<uInt>(room);
  DecodeState state = is_done_ ? DecodeState::kDone : DecodeState::kMore;
  if (!is_done_ || !coded.empty()) {
    do {
      state = Inflate(coded);
    } while (state != DecodeState::kBad && !coded.empty() && stream_->avail_out != 0);
  }
  plain.resize(before + room - stream_->avail_out);
  // With bytes left, what they are is not known yet.
  return state == DecodeState::kDone && !coded.empty() ? DecodeState::kMore : state;
}

// Runs to the end of the input, of the room or of a member, whatever comes first.
auto GzipDecoder::Inflate(std::string_view& coded) -> DecodeState {
  if (is_done_) {
    inflateReset(stream_.get());  // keeps the window's memory
    is_done_ = false;
  }
  const std::size_t count = std::min<std::size_t>(coded.size(), std::numeric_limits<uInt>::max());
  stream_->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(coded.data()));  // NOLINT: z_const
  stream_->avail_in = static_cast<uInt>(count);
  const int result = inflate(stream_.get(), Z_NO_FLUSH);
  coded.remove_prefix(count - stream_->avail_in);
  switch (result) {
    case Z_STREAM_END:
      is_done_ = true;
      return DecodeState::kDone;
    case Z_OK:
    case Z_BUF_ERROR:  // there was nothing to do, which is no error
      return DecodeState::kMore;
    case Z_MEM_ERROR:
      throw std::bad_alloc();
    default:
      return DecodeState::kBad;
  }
}

}  // namespace TURTLE_SERVER
