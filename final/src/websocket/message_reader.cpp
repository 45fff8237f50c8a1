#include "websocket/message_reader.h"

#include <algorithm>
#include <cstring>

#include "websocket/masking.h"

namespace TURTLE_SERVER {

namespace {

constexpr std::size_t kStep = std::size_t{4} * 1024;  // unmasked and inflated at a time

// Returns how long the frames of a message may be. DEFLATE makes a text that can't be compressed
// five bytes longer for each block.
auto MostFrameBytes(std::size_t message, bool compressed) noexcept -> std::uint64_t {
  constexpr std::size_t kSlack = 64;
  return std::uint64_t{message} + (compressed ? message / kSlack + kSlack : 0);
}

}  // namespace

void MessageReader::Begin(const ReaderRules& rules) noexcept {
  rules_ = rules;
  message_.clear();
  bytes_ = {};
  head_bytes_ = 0;
  in_frame_ = in_message_ = compressed_ = delivered_ = failed_ = false;
  if (inflater_ && inflater_bits_ != rules.window_bits) {
    inflater_.reset();
  } else if (inflater_) {
    inflater_->Reset();
  }
}

auto MessageReader::Next(std::string_view& input) -> ReadEvent {
  if (delivered_) {
    DropMessage();
  }
  while (!failed_) {
    if (!in_frame_) {
      const ReadEvent event = ReadHead(input);
      if (event != ReadEvent::kMessage) {
        return event;
      }
    }
    if (!ReadPayload(input)) {
      break;
    }
    if (taken_ < head_.length) {
      return ReadEvent::kNeedInput;
    }
    in_frame_ = false;
    const ReadEvent event = EndFrame();
    if (event != ReadEvent::kNeedInput) {
      return event;
    }
  }
  return ReadEvent::kFailed;
}

// The memory stays for the next message, unless it is much.
void MessageReader::DropMessage() noexcept {
  delivered_ = false;
  if (message_.capacity() > kKeptBytes) {
    std::string().swap(message_);
  }
  message_.clear();
}

// Reads the head of the next frame. @return kMessage: it is complete, and its payload follows
auto MessageReader::ReadHead(std::string_view& input) -> ReadEvent {
  if (input.empty()) {
    return ReadEvent::kNeedInput;
  }
  const std::size_t count = std::min(input.size(), kMaxFrameHead - head_bytes_);
  std::memcpy(head_start_.data() + head_bytes_, input.data(), count);
  const FrameResult result = ParseFrameHead({head_start_.data(), head_bytes_ + count}, head_);
  if (result.state == FrameState::kIncomplete) {
    input.remove_prefix(count);
    head_bytes_ += count;
    return ReadEvent::kNeedInput;
  }
  if (result.state == FrameState::kMalformed) {
    Fail(CloseCode::kProtocolError);
    return ReadEvent::kFailed;
  }
  input.remove_prefix(result.bytes - head_bytes_);
  head_bytes_ = 0;
  in_frame_ = true;
  taken_ = 0;
  return CheckHead() ? ReadEvent::kMessage : ReadEvent::kFailed;
}

// Decides whether this frame may come now.
auto MessageReader::CheckHead() -> bool {
  if (head_.masked != rules_.masked) {
    return Fail(CloseCode::kProtocolError);
  }
  if (IsControl(head_.opcode)) {
    return true;
  }
  if ((head_.opcode == Opcode::kContinuation) != in_message_) {
    return Fail(CloseCode::kProtocolError);
  }
  if (head_.opcode != Opcode::kContinuation && !BeginMessage()) {
    return false;
  }
  if (head_.opcode == Opcode::kContinuation && head_.compressed) {
    return Fail(CloseCode::kProtocolError);  // only the first frame says so
  }
  if (++fragments_ > rules_.max_fragments) {
    return Fail(CloseCode::kPolicyViolation);
  }
  const std::uint64_t most = MostFrameBytes(rules_.max_message_bytes, compressed_);
  if (head_.length > most || frame_bytes_ > most - head_.length) {
    return Fail(CloseCode::kTooBig);  // before the first byte of it is kept
  }
  frame_bytes_ += head_.length;
  return true;
}

auto MessageReader::BeginMessage() -> bool {
  if (head_.compressed && !rules_.inflates) {
    return Fail(CloseCode::kProtocolError);
  }
  in_message_ = true;
  compressed_ = head_.compressed;
  kind_ = head_.opcode == Opcode::kText ? MessageKind::kText : MessageKind::kBinary;
  fragments_ = 0;
  frame_bytes_ = 0;
  utf8_ = Utf8Validator();
  if (compressed_ && !inflater_) {
    inflater_ = std::make_unique<RawInflater>(rules_.window_bits);
    inflater_bits_ = rules_.window_bits;
  } else if (compressed_ && !rules_.keeps_context) {
    inflater_->Reset();
  }
  return true;
}

// Takes what there is of the frame's payload.
auto MessageReader::ReadPayload(std::string_view& input) -> bool {
  const auto count =
      static_cast<std::size_t>(std::min<std::uint64_t>(input.size(), head_.length - taken_));
  const std::string_view piece = input.substr(0, count);
  input.remove_prefix(count);
  bool good = true;
  if (IsControl(head_.opcode)) {
    Mask(head_.key, taken_, piece.data(), control_.data() + taken_, count);
  } else {
    good = compressed_ ? AddCompressed(piece) : AddPlain(piece);
  }
  taken_ += count;
  return good;
}

auto MessageReader::AddPlain(std::string_view piece) -> bool {
  const std::size_t before = message_.size();
  message_.append(piece);
  if (head_.masked) {
    Mask(head_.key, taken_, message_.data() + before, message_.data() + before, piece.size());
  }
  return CheckText(before);
}

auto MessageReader::AddCompressed(std::string_view piece) -> bool {
  std::array<char, kStep> plain;  // NOLINT(cppcoreguidelines-pro-type-member-init): written first
  std::uint64_t offset = taken_;
  while (!piece.empty()) {
    const std::size_t count = std::min(piece.size(), plain.size());
    Mask(head_.key, offset, piece.data(), plain.data(), count);
    const std::size_t before = message_.size();
    if (!CheckInflated(inflater_->Add({plain.data(), count}, message_, rules_.max_message_bytes),
                       before)) {
      return false;
    }
    offset += count;
    piece.remove_prefix(count);
  }
  return true;
}

auto MessageReader::CheckInflated(InflateState state, std::size_t before) -> bool {
  if (state == InflateState::kTooLarge) {
    return Fail(CloseCode::kTooBig);
  }
  return state == InflateState::kOk ? CheckText(before) : Fail(CloseCode::kInvalidPayload);
}

// Checks the bytes from `before` on.
auto MessageReader::CheckText(std::size_t before) -> bool {
  return kind_ != MessageKind::kText || utf8_.Add(std::string_view(message_).substr(before)) ||
         Fail(CloseCode::kInvalidPayload);
}

// @return kNeedInput: no event, the message goes on
auto MessageReader::EndFrame() -> ReadEvent {
  if (IsControl(head_.opcode)) {
    return EndControl();
  }
  return head_.last ? EndMessage() : ReadEvent::kNeedInput;
}

auto MessageReader::EndMessage() -> ReadEvent {
  const std::size_t before = message_.size();
  if (compressed_ && !CheckInflated(inflater_->End(message_, rules_.max_message_bytes), before)) {
    return ReadEvent::kFailed;
  }
  if (kind_ == MessageKind::kText && !utf8_.IsComplete()) {
    Fail(CloseCode::kInvalidPayload);
    return ReadEvent::kFailed;
  }
  in_message_ = false;
  delivered_ = true;
  bytes_ = message_;
  return ReadEvent::kMessage;
}

auto MessageReader::EndControl() -> ReadEvent {
  bytes_ = {control_.data(), static_cast<std::size_t>(head_.length)};
  if (head_.opcode == Opcode::kClose) {
    return ReadClose() ? ReadEvent::kClose : ReadEvent::kFailed;
  }
  return head_.opcode == Opcode::kPing ? ReadEvent::kPing : ReadEvent::kPong;
}

// A Close frame may be empty. Otherwise it has a code of two bytes, and perhaps a reason.
auto MessageReader::ReadClose() -> bool {
  if (bytes_.empty()) {
    code_ = CloseCode::kNoCode;
    return true;
  }
  if (bytes_.size() < 2) {
    return Fail(CloseCode::kProtocolError);
  }
  const auto code =
      static_cast<std::uint16_t>(detail::ByteAt(bytes_, 0) << 8 | detail::ByteAt(bytes_, 1));
  bytes_.remove_prefix(2);
  Utf8Validator reason;
  if (!IsSendable(code)) {
    return Fail(CloseCode::kProtocolError);
  }
  if (!reason.Add(bytes_) || !reason.IsComplete()) {
    return Fail(CloseCode::kInvalidPayload);
  }
  code_ = static_cast<CloseCode>(code);
  return true;
}

auto MessageReader::Fail(CloseCode code) noexcept -> bool {
  failed_ = true;
  bytes_ = {};
  code_ = code;
  return false;
}

}  // namespace TURTLE_SERVER
