#include "bench/response_reader.h"

#include <algorithm>
#include <limits>

namespace TURTLE_SERVER {

namespace {

constexpr std::string_view kHeadEnd = "\r\n\r\n";

// A benchmark may fetch a disk image; its duration is the limit.
auto NoLimits() noexcept -> BodyLimits {
  BodyLimits limits;
  limits.max_body_bytes = std::numeric_limits<std::uint64_t>::max();
  return limits;
}

auto Bad(const char* fault) noexcept -> ReadResult { return {ReplyState::kBad, 0, fault}; }

}  // namespace

ResponseReader::ResponseReader(HeadMemo& memo) noexcept : memo_(&memo), chunks_(NoLimits()) {}

void ResponseReader::Next() noexcept {
  place_ = Place::kStart;
  pieces_.clear();
  digest_ = BodyDigest();
  if (head_.end == BodyEnd::kChunked) {
    chunks_ = ChunkedDecoder(NoLimits());
  }
}

auto ResponseReader::Read(std::string_view input) -> ReadResult {
  std::size_t used = 0;
  while (place_ == Place::kStart || place_ == Place::kHead) {
    const ReadResult head = ReadHead(input.substr(used));
    if (head.state == ReplyState::kBad) {
      place_ = Place::kBad;
      return head;
    }
    used += head.used;
    if (used == input.size() && place_ != Place::kBody) {
      return {ReplyState::kMore, used, ""};
    }
  }
  ReadResult body = ReadBody(input.substr(used));
  body.used += used;
  if (body.state != ReplyState::kMore) {
    place_ = body.state == ReplyState::kDone ? Place::kDone : Place::kBad;
  }
  return body;
}

auto ResponseReader::ReadHead(std::string_view input) -> ReadResult {
  const std::string& known = memo_->text;
  if (place_ == Place::kStart && !known.empty() && input.substr(0, known.size()) == known) {
    head_ = memo_->head;
    place_ = Place::kBody;
    return {ReplyState::kMore, known.size(), ""};
  }
  if (input.empty()) {
    return {};
  }
  place_ = Place::kHead;
  if (pieces_.empty()) {
    const std::size_t end = input.substr(0, kMaxHead).find(kHeadEnd);
    if (end != std::string_view::npos) {
      const std::size_t size = end + kHeadEnd.size();
      const char* const fault = FinishHead(input.substr(0, size));
      return fault == nullptr ? ReadResult{ReplyState::kMore, size, ""} : Bad(fault);
    }
  }
  const std::size_t before = pieces_.size();
  pieces_.append(input.substr(0, kMaxHead - before));
  // The end may lie across the cut.
  const std::size_t from = before - std::min(before, kHeadEnd.size() - 1);
  const std::size_t end = pieces_.find(kHeadEnd, from);
  if (end == std::string::npos) {
    return pieces_.size() == kMaxHead ? Bad("the head is too long")
                                      : ReadResult{ReplyState::kMore, input.size(), ""};
  }
  pieces_.resize(end + kHeadEnd.size());
  const ReadResult result{ReplyState::kMore, pieces_.size() - before, ""};
  const char* const fault = FinishHead(pieces_);
  pieces_.clear();
  return fault == nullptr ? result : Bad(fault);
}

auto ResponseReader::FinishHead(std::string_view text) -> const char* {
  ++memo_->parsed;
  if (const char* fault = ParseResponseHead(text, memo_->to_head, head_)) {
    return fault;
  }
  if (head_.status == 101) {
    return "the server changes to another protocol";
  }
  if (head_.status < 200) {
    place_ = Place::kStart;  // an interim reply: the final one follows
    return nullptr;
  }
  memo_->text = text;
  memo_->head = head_;
  place_ = Place::kBody;
  return nullptr;
}

auto ResponseReader::ReadBody(std::string_view input) -> ReadResult {
  switch (place_ == Place::kBody ? head_.end : BodyEnd::kNone) {
    case BodyEnd::kLength: {
      const std::uint64_t left = head_.length - digest_.Size();
      const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(left, input.size()));
      digest_.Add(input.substr(0, count));
      return {count == left ? ReplyState::kDone : ReplyState::kMore, count, ""};
    }
    case BodyEnd::kChunked:
      return ReadChunks(input);
    case BodyEnd::kToEnd:
      digest_.Add(input);
      return {ReplyState::kMore, input.size(), ""};
    case BodyEnd::kNone:
      break;
  }
  return place_ == Place::kBad ? Bad("") : ReadResult{ReplyState::kDone, 0, ""};
}

auto ResponseReader::ReadChunks(std::string_view input) -> ReadResult {
  std::size_t used = 0;
  for (;;) {
    const BodyResult piece = chunks_.Read(input.substr(used));
    digest_.Add(piece.data);
    used += piece.consumed;
    if (piece.state == BodyState::kDone) {
      return {ReplyState::kDone, used, ""};
    }
    if (piece.state == BodyState::kBad) {
      return Bad(piece.reason);
    }
    if (used == input.size()) {
      return {ReplyState::kMore, used, ""};
    }
  }
}

auto ResponseReader::End() const noexcept -> ReplyState {
  switch (place_) {
    case Place::kStart:
      return ReplyState::kMore;
    case Place::kBody:
      return head_.end == BodyEnd::kToEnd ? ReplyState::kDone : ReplyState::kBad;
    case Place::kDone:
      return ReplyState::kDone;
    case Place::kHead:
    case Place::kBad:
      break;
  }
  return ReplyState::kBad;
}

}  // namespace TURTLE_SERVER
