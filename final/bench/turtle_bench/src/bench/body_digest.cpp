#include "bench/body_digest.h"

#include <algorithm>
#include <cstring>

namespace TURTLE_SERVER {

namespace {

constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15;  // odd, so multiplying loses nothing

constexpr auto Step(std::uint64_t state, std::uint64_t word) noexcept -> std::uint64_t {
  const std::uint64_t mixed = (state ^ word) * kFactor;
  return mixed ^ mixed >> 32;  // spreads the product's upper half to the lower one
}

}  // namespace

void BodyDigest::Mix(Lanes& lanes, const char* blocks, std::size_t count) noexcept {
  Lanes mixed = lanes;
  for (; count != 0; --count, blocks += kBlock) {
    Lanes words;
    std::memcpy(words.data(), blocks, kBlock);
    for (std::size_t i = 0; i < kLanes; ++i) {
      mixed[i] = Step(mixed[i], words[i]);
    }
  }
  lanes = mixed;
}

void BodyDigest::Add(std::string_view bytes) noexcept {
  if (bytes.empty()) {
    return;  // perhaps no pointer at all, which memcpy() may not be given
  }
  const auto held = static_cast<std::size_t>(size_ % kBlock);
  size_ += bytes.size();
  if (held != 0) {
    const std::size_t count = std::min(bytes.size(), kBlock - held);
    std::memcpy(rest_.data() + held, bytes.data(), count);
    bytes.remove_prefix(count);
    if (held + count < kBlock) {
      return;
    }
    Mix(lanes_, rest_.data(), 1);
  }
  const std::size_t blocks = bytes.size() / kBlock;
  Mix(lanes_, bytes.data(), blocks);
  bytes.remove_prefix(blocks * kBlock);
  if (!bytes.empty()) {
    std::memcpy(rest_.data(), bytes.data(), bytes.size());
  }
}

auto BodyDigest::Value() const noexcept -> std::uint64_t {
  Lanes lanes = lanes_;
  std::array<char, kBlock> last{};
  std::memcpy(last.data(), rest_.data(), static_cast<std::size_t>(size_ % kBlock));
  Mix(lanes, last.data(), 1);
  std::uint64_t value = size_;
  for (const std::uint64_t lane : lanes) {
    value = Step(value, lane);  // in this order: swapped lanes are a difference
  }
  return value ^ value >> 32;
}

}  // namespace TURTLE_SERVER
