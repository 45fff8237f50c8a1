#include "compress/zstd_decoder.h"

#include <zstd.h>
#include <zstd_errors.h>

#include <new>

namespace TURTLE_SERVER {

namespace {

// Libraries may still read formats that are older than RFC 8878. Their code is seldom tested, and
// limits no window. The first byte of the magic number is enough to tell: section 3.1.
auto CanBeginFrame(char first) noexcept -> bool {
  constexpr unsigned kZstandard = 0x28;
  constexpr unsigned kSkippable = 0x50;  // to 0x5F
  const auto byte = static_cast<unsigned char>(first);
  return byte == kZstandard || (byte & 0xF0U) == kSkippable;
}

}  // namespace

void ZstdDecoder::Deleter::operator()(ZSTD_DCtx_s* context) const noexcept {
  ZSTD_freeDCtx(context);
}

ZstdDecoder::ZstdDecoder() : context_(ZSTD_createDCtx()) {
  constexpr int kMaxWindow = 23;  // as a power of two: 8 MiB
  if (!context_) {
    throw std::bad_alloc();
  }
  ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, kMaxWindow);
}

auto ZstdDecoder::Decode(std::string_view& coded, std::size_t most, std::string& plain)
    -> DecodeState {
  if (coded.empty() && (is_between_ || !is_full_)) {
    return state_;  // zstd would begin another frame, and counts calls without progress as an error
  }
  const std::size_t before = plain.size();
  plain.resize(before + most);
  ZSTD_inBuffer in = {coded.data(), coded.size(), 0};
  ZSTD_outBuffer out = {&plain[before], most, 0};
  std::size_t left = 0;  // a guess at the bytes that are missing; 0: a frame has ended; or an error
  do {
    if (is_between_ && in.pos != in.size && !CanBeginFrame(coded[in.pos])) {
      plain.resize(before + out.pos);
      return state_ = DecodeState::kBad;
    }
    left = ZSTD_decompressStream(context_.get(), &out, &in);
    is_between_ = left == 0;
  } while (ZSTD_isError(left) == 0 && in.pos != in.size && out.pos != out.size);
  plain.resize(before + out.pos);
  coded.remove_prefix(in.pos);
  is_full_ = out.pos == out.size;
  if (ZSTD_isError(left) != 0) {
    if (ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation) {
      throw std::bad_alloc();
    }
    return state_ = DecodeState::kBad;
  }
  return state_ = left == 0 && coded.empty() ? DecodeState::kDone : DecodeState::kMore;
}

}  // namespace TURTLE_SERVER
