#include "http/chunked.h"

#include <algorithm>

#include "base/ascii.h"

namespace TURTLE_SERVER {

namespace {

constexpr std::uint8_t kMaxDigits = 16;

// True for field text: anything but control characters, of which tab is allowed.
auto IsText(char c) -> bool { return !ascii::IsControl(c) || c == '\t'; }

}  // namespace

ChunkedDecoder::ChunkedDecoder(const BodyLimits& limits) noexcept
    : body_left_(limits.max_body_bytes),
      max_extensions_(limits.max_extension_bytes),
      trailer_left_(limits.max_trailer_bytes) {}

auto ChunkedDecoder::Read(std::string_view input) noexcept -> BodyResult {
  std::string_view data;
  std::size_t used = 0;
  while (used < input.size() && place_ != Place::kDone && place_ != Place::kBad) {
    if (place_ != Place::kContent) {
      used += Step(input[used]) ? 1 : 0;
      continue;
    }
    if (!data.empty()) {
      break;  // the lines around the first run are read with it, a second run is not
    }
    const std::size_t count =
        static_cast<std::size_t>(std::min<std::uint64_t>(chunk_left_, input.size() - used));
    data = input.substr(used, count);
    used += count;
    chunk_left_ -= count;
    extensions_ -= std::min<std::uint64_t>(extensions_, count);
    if (chunk_left_ == 0) {
      place_ = Place::kContentCr;
    }
  }
  if (place_ == Place::kBad) {
    return {BodyState::kBad, used, {}, status_, reason_};
  }
  return {place_ == Place::kDone ? BodyState::kDone : BodyState::kMore, used, data};
}

// Takes one byte of the framing around the content. False: refused.
auto ChunkedDecoder::Step(char c) noexcept -> bool {
  const auto expect = [&](char wanted, Place next, const char* reason) {
    place_ = next;
    return c == wanted || Fail(400, reason);
  };
  switch (place_) {
    case Place::kSizeStart:
    case Place::kSize:
      if (const int digit = ascii::HexValue(c); digit >= 0) {
        return AddDigit(digit);
      }
      if (place_ == Place::kSizeStart) {
        return Fail(400, "a chunk does not begin with its size");
      }
      [[fallthrough]];
    case Place::kBeforeExtension:
    case Place::kNameStart:
    case Place::kName:
    case Place::kBehindName:
    case Place::kValueStart:
    case Place::kValue:
    case Place::kQuoted:
    case Place::kEscaped:
    case Place::kQuotedEnd:
      return AddExtensionByte(c);
    case Place::kSizeEnd:
      return c == '\n' ? StartChunk() : Fail(400, "a chunk size is not ended by CR LF");
    case Place::kContentCr:
      return expect('\r', Place::kContentLf, "a chunk is longer than its size");
    case Place::kContentLf:
      return expect('\n', Place::kSizeStart, "a chunk is not ended by CR LF");
    case Place::kTrailerStart:
    case Place::kTrailerName:
    case Place::kTrailerValue:
      return AddTrailerByte(c);
    case Place::kTrailerLf:
      return expect('\n', Place::kTrailerStart, "a trailer is not ended by CR LF");
    case Place::kEndLf:
      return expect('\n', Place::kDone, "the body is not ended by CR LF");
    case Place::kContent:
    case Place::kDone:
    case Place::kBad:
      break;
  }
  return false;
}

auto ChunkedDecoder::AddDigit(int digit) noexcept -> bool {
  if (digits_ == kMaxDigits) {
    return Fail(400, "a chunk size has too many digits");
  }
  ++digits_;
  chunk_left_ = chunk_left_ * 16 + static_cast<std::uint64_t>(digit);
  place_ = Place::kSize;
  return true;
}

auto ChunkedDecoder::AddExtensionByte(char c) noexcept -> bool {
  place_ = PlaceBehind(place_, c);
  if (place_ == Place::kBad) {
    return Fail(400, "malformed chunk size or extension");
  }
  if (place_ == Place::kSizeEnd) {
    return true;
  }
  return ++extensions_ <= max_extensions_ || Fail(400, "the chunk extensions are too long");
}

// The place after a byte that follows a size: *( BWS ";" BWS name [ BWS "=" BWS value ] ), then CR.
// The grammar has no space before CR; some read "5 " as 5 and some as an error.
auto ChunkedDecoder::PlaceBehind(Place place, char c) noexcept -> Place {
  switch (place) {
    case Place::kNameStart:
    case Place::kValueStart:
      if (ascii::IsOws(c)) {
        return place;
      }
      if (c == '"' && place == Place::kValueStart) {
        return Place::kQuoted;
      }
      if (!ascii::IsToken(c)) {
        return Place::kBad;
      }
      return place == Place::kNameStart ? Place::kName : Place::kValue;
    case Place::kQuoted:
      if (c == '"' || c == '\\') {
        return c == '"' ? Place::kQuotedEnd : Place::kEscaped;
      }
      return IsText(c) ? Place::kQuoted : Place::kBad;
    case Place::kEscaped:
      return IsText(c) ? Place::kQuoted : Place::kBad;
    case Place::kName:
    case Place::kValue:
      if (ascii::IsToken(c)) {
        return place;
      }
      break;
    default:
      break;
  }
  const bool is_named = place == Place::kName || place == Place::kBehindName;
  if (ascii::IsOws(c)) {
    return is_named ? Place::kBehindName : Place::kBeforeExtension;
  }
  if (c == ';') {
    return Place::kNameStart;
  }
  if (c == '=' && is_named) {
    return Place::kValueStart;
  }
  const bool may_end = place != Place::kBeforeExtension && place != Place::kBehindName;
  return c == '\r' && may_end ? Place::kSizeEnd : Place::kBad;
}

// The size is known. It is checked before the content arrives, so that nobody waits for it.
auto ChunkedDecoder::StartChunk() noexcept -> bool {
  if (chunk_left_ > body_left_) {
    return Fail(413, "the body is too large");
  }
  digits_ = 0;
  body_left_ -= chunk_left_;
  place_ = chunk_left_ == 0 ? Place::kTrailerStart : Place::kContent;
  return true;
}

auto ChunkedDecoder::AddTrailerByte(char c) noexcept -> bool {
  if (place_ == Place::kTrailerStart && c == '\r') {
    place_ = Place::kEndLf;
    return true;
  }
  if (trailer_left_ == 0) {
    return Fail(431, "the trailers are too long");
  }
  --trailer_left_;
  if (place_ == Place::kTrailerValue) {
    if (c == '\r') {
      place_ = Place::kTrailerLf;
      return true;
    }
    return IsText(c) || Fail(400, "a trailer has a control character");
  }
  // A name has at least one character; a folded line, which begins with a space, has none.
  if (c == ':' && place_ == Place::kTrailerName) {
    place_ = Place::kTrailerValue;
    return true;
  }
  place_ = Place::kTrailerName;
  return ascii::IsToken(c) || Fail(400, "malformed trailer");
}

auto ChunkedDecoder::Fail(int status, const char* reason) noexcept -> bool {
  place_ = Place::kBad;
  status_ = static_cast<std::uint16_t>(status);
  reason_ = reason;
  return false;
}

ChunkHead::ChunkHead(std::uint64_t size) noexcept : start_(text_.size() - 2) {
  text_[start_] = '\r';
  text_[start_ + 1] = '\n';
  do {
    text_[--start_] = "0123456789abcdef"[size % 16];
    size /= 16;
  } while (size > 0);
}

}  // namespace TURTLE_SERVER
