#include "websocket/websocket.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include "web/session.h"
#include "websocket/handshake.h"
#include "websocket/loop_sockets.h"

namespace TURTLE_SERVER {

namespace {

// A shorter frame is copied. To keep a view of it would take as much memory, or twenty times as
// much if it has three bytes, and the limits count only the bytes.
constexpr std::size_t kLeastPinned = 256;

}  // namespace

WebSocket::WebSocket(Session& session, LoopSockets& shared, const Agreement& agreement,
                     std::shared_ptr<void> data)
    : session_(session),
      shared_(shared),
      terms_(agreement.deflate.value_or(DeflateTerms())),
      deflates_(agreement.deflate.has_value()),
      protocol_(static_cast<std::uint16_t>(agreement.protocol)),
      data_(std::move(data)) {}

WebSocket::~WebSocket() = default;  // it ends the subscriptions

auto WebSocket::GetConnection() const noexcept -> Connection& { return session_.GetConnection(); }

auto WebSocket::UnsentBytes() const noexcept -> std::size_t {
  return GetConnection().UnsentBytes();
}

auto WebSocket::CanSend() const noexcept -> bool {
  return IsOpen() && UnsentBytes() <= shared_.Options().high_water;
}

auto WebSocket::Protocol() const noexcept -> std::string_view {
  const std::vector<std::string>& known = shared_.Options().protocols;
  return protocol_ < known.size() ? std::string_view(known[protocol_]) : std::string_view();
}

auto WebSocket::Send(MessageKind kind, std::string_view bytes) -> SendResult {
  const SendResult result = Admit(bytes.size());
  if (result != SendResult::kQueued) {
    return result;
  }
  FrameHead head;
  head.opcode = kind == MessageKind::kText ? Opcode::kText : Opcode::kBinary;
  std::string_view payload = bytes;
  if (deflates_ && bytes.size() >= shared_.Options().deflate.min_bytes) {
    payload = Compress(bytes);
    head.compressed = payload.data() != bytes.data();
  }
  WriteFrame(head, payload);
  return SendResult::kQueued;
}

auto WebSocket::Send(const PinTo<PinnedMessage>& message) -> SendResult {
  const SharedMessage& shared = message->Get();
  const SendResult result = Admit(shared.Plain().size());
  if (result != SendResult::kQueued) {
    return result;
  }
  const bool compressed =
      deflates_ && terms_.server_window_bits == kMostWindowBits && !shared.Compressed().empty();
  if (compressed && deflater_) {
    deflater_->Reset();  // the client's window now has a message that ours has not
  }
  const std::string_view frame = compressed ? shared.Compressed() : shared.Plain();
  if (frame.size() < kLeastPinned) {
    GetConnection().WriteToWriteBuffer(frame);
  } else {
    GetConnection().WritePinned(frame, message);
  }
  session_.Wake();
  return SendResult::kQueued;
}

// Decides whether a message may be queued.
auto WebSocket::Admit(std::size_t bytes) -> SendResult {
  if (!IsOpen()) {
    return SendResult::kClosed;
  }
  const WebSocketOptions& options = shared_.Options();
  const std::size_t unsent = UnsentBytes();
  progress_ = true;
  if (unsent <= options.high_water) {
    return SendResult::kQueued;
  }
  if (options.overflow == Overflow::kDrop) {
    return SendResult::kDropped;
  }
  if (options.overflow == Overflow::kWait && bytes <= options.max_unsent_bytes &&
      unsent <= options.max_unsent_bytes - bytes) {
    return SendResult::kQueued;
  }
  Close(CloseCode::kPolicyViolation, "messages are read too slowly");
  return SendResult::kClosed;
}

// Returns the compressed message, or `bytes` itself if that is shorter. With a context, what was
// compressed must be sent, since later messages may refer to it.
auto WebSocket::Compress(std::string_view bytes) -> std::string_view {
  std::string& coded = shared_.Scratch();
  if (!terms_.server_takeover) {
    shared_.DeflaterFor(terms_.server_window_bits).Add(bytes, coded);
    return coded.size() < bytes.size() ? coded : bytes;
  }
  if (!deflater_) {
    deflater_ = std::make_unique<RawDeflater>(terms_.server_window_bits);
  }
  deflater_->Add(bytes, coded);
  return coded;
}

void WebSocket::WriteFrame(const FrameHead& head, std::string_view payload) {
  FrameHead whole = head;
  whole.length = payload.size();
  std::array<char, kMaxFrameHead> text{};
  const std::size_t size = WriteFrameHead(whole, text.data());
  GetConnection().WriteToWriteBuffer({text.data(), size});
  GetConnection().WriteToWriteBuffer(payload);
  session_.Wake();
}

void WebSocket::Ping(std::string_view payload) {
  if (IsOpen()) {
    SendControl(Opcode::kPing, payload);
  }
}

void WebSocket::SendControl(Opcode opcode, std::string_view payload) {
  FrameHead head;
  head.opcode = opcode;
  WriteFrame(head, payload.substr(0, kMaxControlPayload));
}

void WebSocket::Close(CloseCode code, std::string_view reason) {
  if (!IsSendable(code)) {
    throw std::invalid_argument("close code " + std::to_string(static_cast<int>(code)) +
                                ": it can't be sent");
  }
  if (IsOpen()) {
    phase_ = Phase::kClosing;
    progress_ = true;
    SendClose(code, reason);
  }
}

// A reason that is too long is cut before a character, not within it.
void WebSocket::SendClose(CloseCode code, std::string_view reason) {
  std::array<char, kMaxControlPayload> payload{};
  std::size_t size = 0;
  if (code != CloseCode::kNoCode) {
    std::size_t most = std::min(reason.size(), payload.size() - 2);
    while (most < reason.size() && most > 0 && (reason[most] & 0xC0) == 0x80) {
      --most;
    }
    payload[0] = static_cast<char>(static_cast<std::uint16_t>(code) >> 8);
    payload[1] = static_cast<char>(static_cast<std::uint16_t>(code) & 0xFF);
    std::copy_n(reason.data(), most, payload.begin() + 2);
    size = 2 + most;
  }
  SendControl(Opcode::kClose, {payload.data(), size});
}

}  // namespace TURTLE_SERVER
