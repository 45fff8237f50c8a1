#include "compress/brotli_encoder.h"

#include <brotli/encode.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <new>

namespace TURTLE_SERVER {

namespace {

auto OperationOf(Flush flush) noexcept -> BrotliEncoderOperation {
  return flush == Flush::kEnd     ? BROTLI_OPERATION_FINISH
         : flush == Flush::kPiece ? BROTLI_OPERATION_FLUSH
                                  : BROTLI_OPERATION_PROCESS;
}

}  // namespace

BrotliEncoder::BrotliEncoder(Effort effort, std::optional<std::size_t> size) {
  constexpr std::uint32_t kLowQuality = 4;
  constexpr std::uint32_t kHighQuality = 5;  // from 7 on, each takes much longer for few bytes
  constexpr std::uint32_t kWindow = 18;      // 256 KiB, the encoder's memory being a few times that
  const bool had_memory = memory_.Try([this] {
    state_ = BrotliEncoderCreateInstance(&BrotliMemory::Allocate, &BrotliMemory::Free, &memory_);
  });
  if (!had_memory) {
    throw std::bad_alloc();
  }
  const bool is_high = effort == Effort::kHigh;
  BrotliEncoderSetParameter(state_, BROTLI_PARAM_QUALITY, is_high ? kHighQuality : kLowQuality);
  BrotliEncoderSetParameter(state_, BROTLI_PARAM_LGWIN, kWindow);
  if (size) {  // it changes the tables of a long body
    BrotliEncoderSetParameter(state_, BROTLI_PARAM_SIZE_HINT,
                              static_cast<std::uint32_t>(std::min<std::size_t>(
                                  *size, std::numeric_limits<std::uint32_t>::max())));
  }
}

void BrotliEncoder::Encode(std::string_view plain, Flush flush, std::string& coded) {
  const auto* next = reinterpret_cast<const std::uint8_t*>(plain.data());
  std::size_t left = plain.size();
  std::size_t size = 0;
  do {
    BROTLI_BOOL is_well = BROTLI_FALSE;
    const bool had_memory = memory_.Try([&] {
      std::size_t no_room = 0;
      is_well = BrotliEncoderCompressStream(state_, OperationOf(flush), &left, &next, &no_room,
                                            nullptr, nullptr);
    });
    if (!had_memory || is_well == BROTLI_FALSE) {
      throw std::bad_alloc();  // nothing else can go wrong
    }
    size = 0;  // all that there is
    const std::uint8_t* const taken = BrotliEncoderTakeOutput(state_, &size);
    coded.append(reinterpret_cast<const char*>(taken), size);
  } while (left != 0 || size != 0);  // until a call finds nothing to do
}

}  // namespace TURTLE_SERVER
