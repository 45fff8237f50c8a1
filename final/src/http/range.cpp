#include "http/range.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/ascii.h"
#include "http/headers.h"

namespace TURTLE_SERVER {

namespace {

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

// Takes digits from the front. A number that is too large for 64 bits becomes the largest one: no
// file reaches it, so it means the same.
auto TakeNumber(std::string_view& text) -> std::optional<std::uint64_t> {
  if (text.empty() || !ascii::IsDigit(text.front())) {
    return std::nullopt;
  }
  std::uint64_t value = 0;
  while (!text.empty() && ascii::IsDigit(text.front())) {
    const auto digit = static_cast<std::uint64_t>(text.front() - '0');
    value = value > (kMax - digit) / 10 ? kMax : value * 10 + digit;
    text.remove_prefix(1);
  }
  return value;
}

struct Spec {
  bool valid = false;
  ByteRange range{};  // length 0: no part of the representation is in it
};

// Parses "first-", "first-last" or "-suffix", relative to `size` bytes. No part of 0 bytes exists:
// the range is empty then.
auto ParseSpec(std::string_view text, std::uint64_t size) -> Spec {
  const auto first = TakeNumber(text);
  if (text.empty() || text.front() != '-') {
    return {};
  }
  text.remove_prefix(1);
  const auto last = TakeNumber(text);
  if (!text.empty() || (!first && !last)) {
    return {};
  }
  if (!first) {
    const std::uint64_t length = std::min(*last, size);
    return {true, {size - length, length}};
  }
  if (last && *last < *first) {
    return {};
  }
  if (*first >= size) {
    return {true, {}};
  }
  return {true, {*first, std::min(last.value_or(kMax), size - 1) - *first + 1}};
}

auto NearlyTouch(const ByteRange& a, const ByteRange& b) -> bool {
  const ByteRange& low = a.offset <= b.offset ? a : b;
  const ByteRange& high = a.offset <= b.offset ? b : a;
  const std::uint64_t end = low.offset + low.length;
  return high.offset <= end || high.offset - end < RangeSet::kMinGap;
}

auto Join(const ByteRange& a, const ByteRange& b) -> ByteRange {
  const std::uint64_t offset = std::min(a.offset, b.offset);
  return {offset, std::max(a.offset + a.length, b.offset + b.length) - offset};
}

void AppendNumber(std::uint64_t number, std::string& out) { out += std::to_string(number); }

}  // namespace

// Takes out the ranges that the new one touches, joins them, and puts the result where the first of
// them was. One pass is enough: the ranges in the set don't touch each other, so any range that
// touches the joined range touched the new one. False if there is no room.
auto RangeSet::Add(ByteRange range) noexcept -> bool {
  ByteRange* const first = ranges_.data();
  std::size_t place = size_;
  for (std::size_t i = 0; i < size_;) {
    if (!NearlyTouch(range, first[i])) {
      ++i;
      continue;
    }
    range = Join(range, first[i]);
    std::copy(first + i + 1, first + size_, first + i);
    --size_;
    place = std::min(place, i);
  }
  if (size_ == kMaxRanges) {
    return false;
  }
  std::copy_backward(first + place, first + size_, first + size_ + 1);
  first[place] = range;
  ++size_;
  return true;
}

auto ParseRange(std::string_view value, std::uint64_t size) -> RangeSet {
  constexpr std::string_view kUnit = "bytes=";
  const RangeSet whole;
  if (!ascii::EqualIgnoreCase(value.substr(0, kUnit.size()), kUnit)) {
    return whole;
  }
  RangeSet set;
  std::size_t specs = 0;
  for (std::string_view rest = value.substr(kUnit.size()); !rest.empty();) {
    const std::string_view element = TakeListElement(rest);
    if (element.empty()) {
      continue;  // "a,,b" is a list of two (RFC 9110, section 5.6.1.2)
    }
    const Spec spec = ParseSpec(element, size);
    if (!spec.valid) {
      return whole;
    }
    ++specs;
    if (spec.range.length > 0 && !set.Add(spec.range)) {
      return whole;
    }
  }
  // No part of an empty representation can be sent.
  if (specs == 0 || size == 0) {
    return whole;
  }
  set.state_ = set.size_ > 0 ? RangeSet::State::kParts : RangeSet::State::kUnsatisfiable;
  return set;
}

void AppendContentRange(const ByteRange& range, std::uint64_t size, std::string& out) {
  out += "bytes ";
  AppendNumber(range.offset, out);
  out += '-';
  AppendNumber(range.offset + range.length - 1, out);
  out += '/';
  AppendNumber(size, out);
}

void AppendUnsatisfiedRange(std::uint64_t size, std::string& out) {
  out += "bytes */";
  AppendNumber(size, out);
}

void AppendPartHead(std::string_view boundary, std::string_view content_type,
                    const ByteRange& range, std::uint64_t size, std::string& out) {
  out.append("\r\n--").append(boundary).append("\r\n");
  if (!content_type.empty()) {
    out.append("Content-Type: ").append(content_type).append("\r\n");
  }
  out += "Content-Range: ";
  AppendContentRange(range, size, out);
  out += "\r\n\r\n";
}

void AppendPartsEnd(std::string_view boundary, std::string& out) {
  out.append("\r\n--").append(boundary).append("--\r\n");
}

}  // namespace TURTLE_SERVER
