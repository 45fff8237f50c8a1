#include "compress/zstd_encoder.h"

#include <zstd.h>

#include <new>
#include <stdexcept>

namespace TURTLE_SERVER {

namespace {

auto DirectiveOf(Flush flush) noexcept -> ZSTD_EndDirective {
  return flush == Flush::kEnd     ? ZSTD_e_end
         : flush == Flush::kPiece ? ZSTD_e_flush
                                  : ZSTD_e_continue;
}

}  // namespace

void ZstdEncoder::Deleter::operator()(ZSTD_CCtx_s* context) const noexcept {
  ZSTD_freeCCtx(context);
}

// A reader has to accept windows of 8 MB (RFC 9659); ours are far smaller, to spare memory.
ZstdEncoder::ZstdEncoder(Effort effort, std::optional<std::size_t> size)
    : context_(ZSTD_createCCtx()) {
  constexpr int kLowLevel = 3;
  constexpr int kHighLevel = 9;
  constexpr int kWindow = 18;  // 256 KiB
  if (!context_) {
    throw std::bad_alloc();
  }
  const bool is_high = effort == Effort::kHigh;
  ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, is_high ? kHighLevel : kLowLevel);
  ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_windowLog, kWindow);
  if (size) {
    ZSTD_CCtx_setPledgedSrcSize(context_.get(), *size);
  }
}

void ZstdEncoder::Encode(std::string_view plain, Flush flush, std::string& coded) {
  constexpr std::size_t kRoom = std::size_t{16} * 1024;
  ZSTD_inBuffer in = {plain.data(), plain.size(), 0};
  std::size_t used = coded.size();
  std::size_t left = 0;  // bytes that still have to be given out, or an error
  do {
    coded.resize(used + kRoom);
    ZSTD_outBuffer out = {&coded[used], kRoom, 0};
    left = ZSTD_compressStream2(context_.get(), &out, &in, DirectiveOf(flush));
    used += out.pos;
    if (ZSTD_isError(left) != 0) {
      coded.resize(used);
      throw std::runtime_error(std::string("ZSTD_compressStream2: ") + ZSTD_getErrorName(left));
    }
  } while (in.pos != in.size || (flush != Flush::kNone && left != 0));
  coded.resize(used);
}

}  // namespace TURTLE_SERVER
