#include "http/body_reader.h"

namespace TURTLE_SERVER {

BodyReader::BodyReader(const Framing& framing, const BodyLimits& limits) noexcept
    : kind_(framing.kind),
      max_bytes_(limits.max_body_bytes),
      too_large_(framing.kind == BodyKind::kLength && framing.length > limits.max_body_bytes),
      left_(framing.kind == BodyKind::kLength ? framing.length : 0),
      chunks_(limits) {}

auto BodyReader::Read(std::string_view input) noexcept -> BodyResult {
  if (kind_ == BodyKind::kChunked) {
    return chunks_.Read(input);
  }
  if (too_large_) {
    return {BodyState::kBad, 0, {}, 413, "the body is too large"};
  }
  const std::string_view data = input.substr(0, left_);
  left_ -= data.size();
  return {left_ == 0 ? BodyState::kDone : BodyState::kMore, data.size(), data};
}

}  // namespace TURTLE_SERVER
