#include "compress/body_decoder.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "compress/make_decoder.h"

namespace TURTLE_SERVER {

namespace {

auto Refusal(int status, std::string reason) -> DecodedPiece {
  return {{}, true, status, std::move(reason)};
}

}  // namespace

BodyDecoder::BodyDecoder(Coding coding, const DecodeLimits& limits)
    : coding_(coding), limits_(limits), decoder_(MakeDecoder(coding)) {}

void BodyDecoder::Add(std::string_view coded, bool last) {
  assert(wants_input_);
  coded_.assign(coded);
  taken_ = 0;
  has_all_ = last;
  wants_input_ = false;
}

auto BodyDecoder::Next() -> DecodedPiece {
  if (wants_input_) {
    return {};
  }
  plain_.clear();
  std::string_view rest = std::string_view(coded_).substr(taken_);
  const DecodeState state = decoder_->Decode(rest, kMaxPiece, plain_);
  coded_bytes_ += coded_.size() - rest.size() - taken_;
  taken_ = coded_.size() - rest.size();
  plain_bytes_ += plain_.size();
  const std::string name(NameOf(coding_));
  if (plain_bytes_ > limits_.max_bytes) {
    return Refusal(
        413, "The decoded body has more than " + std::to_string(limits_.max_bytes) + " bytes.");
  }
  if (IsBomb()) {
    return Refusal(413, "The decoded body has more than " + std::to_string(limits_.max_ratio) +
                            " times the bytes that were sent.");
  }
  if (state == DecodeState::kBad) {
    return Refusal(400, "The body is not valid " + name + ".");
  }
  const bool needs_more =
      rest.empty() && (state == DecodeState::kDone || plain_.size() < kMaxPiece);
  if (!needs_more || !has_all_) {
    wants_input_ = needs_more;
    return {plain_};
  }
  if (state != DecodeState::kDone && coded_bytes_ != 0) {
    return Refusal(400, "The body ends within its " + name + " data.");
  }
  decoder_.reset();  // the handler may keep the exchange open for long
  return {plain_, true};
}

// Divides, since a product might overflow.
auto BodyDecoder::IsBomb() const noexcept -> bool {
  return plain_bytes_ > kFreeBytes &&
         plain_bytes_ / std::max<std::size_t>(limits_.max_ratio, 1) > coded_bytes_;
}

}  // namespace TURTLE_SERVER
