#include "compress/brotli_decoder.h"

#include <brotli/decode.h>

#include <cstdint>
#include <new>

namespace TURTLE_SERVER {

void BrotliDecoder::Deleter::operator()(BrotliDecoderStateStruct* state) const noexcept {
  BrotliDecoderDestroyInstance(state);
}

BrotliDecoder::BrotliDecoder() : state_(BrotliDecoderCreateInstance(nullptr, nullptr, nullptr)) {
  if (!state_) {
    throw std::bad_alloc();
  }
}

auto BrotliDecoder::Decode(std::string_view& coded, std::size_t most, std::string& plain)
    -> DecodeState {
  const std::size_t before = plain.size();
  plain.resize(before + most);
  const auto* next = reinterpret_cast<const std::uint8_t*>(coded.data());
  std::size_t left = coded.size();
  auto* out = reinterpret_cast<std::uint8_t*>(&plain[before]);
  std::size_t room = most;
  const BrotliDecoderResult result =
      BrotliDecoderDecompressStream(state_.get(), &left, &next, &room, &out, nullptr);
  plain.resize(before + most - room);
  coded.remove_prefix(coded.size() - left);
  switch (result) {
    case BROTLI_DECODER_RESULT_SUCCESS:  // nothing may follow
      return coded.empty() ? DecodeState::kDone : DecodeState::kBad;
    case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT:
    case BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT:
      return DecodeState::kMore;
    case BROTLI_DECODER_RESULT_ERROR:
      break;
  }
  const BrotliDecoderErrorCode error = BrotliDecoderGetErrorCode(state_.get());
  if (error <= BROTLI_DECODER_ERROR_ALLOC_CONTEXT_MODES &&
      error >= BROTLI_DECODER_ERROR_ALLOC_BLOCK_TYPE_TREES) {  // the codes are negative
    throw std::bad_alloc();
  }
  return DecodeState::kBad;
}

}  // namespace TURTLE_SERVER
