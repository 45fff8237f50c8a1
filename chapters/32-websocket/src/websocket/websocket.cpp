#include "websocket/websocket.h"

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
  if (result == SendResult::kQueued) {
    WriteOrReset([&] {
      FrameHead head;
      head.opcode = OpcodeOf(kind);
      std::string_view payload = bytes;
      if (deflates_ && bytes.size() >= shared_.Options().deflate.min_bytes) {
        payload = Compress(bytes);
        head.compressed = payload.data() != bytes.data();
      }
      WriteFrame(head, payload);
    });
  }
  return result;
}

auto WebSocket::Send(const PinTo<PinnedMessage>& message) -> SendResult {
  const SharedMessage& shared = message->Get();
  const SendResult result = Admit(shared.Plain().size());
  if (result != SendResult::kQueued) {
    return result;
  }
  const bool compressed = LeastCompressed() && !shared.Compressed().empty();
  if (compressed && deflater_) {
    deflater_->Reset();  // the client's window now has a message that ours has not
  }
  const std::string_view frame = compressed ? shared.Compressed() : shared.Plain();
  WriteOrReset([&] {
    if (frame.size() < kLeastPinned) {
      GetConnection().WriteToWriteBuffer(frame);
    } else {
      GetConnection().WritePinned(frame, message);
    }
    session_.Wake();
  });
  return result;
}

// Returns from how many bytes on this client takes the compressed frame of a SharedMessage;
// nullopt: it takes none.
auto WebSocket::LeastCompressed() const noexcept -> std::optional<std::size_t> {
  if (!deflates_ || terms_.server_window_bits != kMostWindowBits) {
    return std::nullopt;
  }
  return shared_.Options().deflate.min_bytes;
}

// Runs `write`. If it throws, half a frame may be queued, or our deflater may know a message that
// the client never gets: nothing that follows would make sense.
template <typename Write>
void WebSocket::WriteOrReset(const Write& write) {
  try {
    write();
  } catch (...) {
    phase_ = Phase::kClosed;
    GetConnection().Close(Closing::kReset);
    throw;
  }
}

// Decides whether a message may be queued.
auto WebSocket::Admit(std::size_t bytes) -> SendResult {
  if (!IsOpen()) {
    return SendResult::kClosed;
  }
  const WebSocketOptions& options = shared_.Options();
  const std::size_t unsent = UnsentBytes();
  const bool may_wait = options.overflow == Overflow::kWait && bytes <= options.max_unsent_bytes &&
                        unsent <= options.max_unsent_bytes - bytes;
  if (unsent <= options.high_water || may_wait) {
    progress_ = true;
    return SendResult::kQueued;
  }
  return LoseMessage();
}

// A message can't be queued: does what `overflow` says.
auto WebSocket::LoseMessage() -> SendResult {
  if (!IsOpen()) {
    return SendResult::kClosed;
  }
  if (shared_.Options().overflow == Overflow::kDrop) {
    return SendResult::kDropped;
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
  WriteOrReset([&] { WriteFrame(head, payload.substr(0, kMaxControlPayload)); });
}

void WebSocket::CheckSendable(CloseCode code) {
  if (!IsSendable(code)) {
    throw std::invalid_argument("close code " + std::to_string(static_cast<int>(code)) +
                                ": it can't be sent");
  }
}

void WebSocket::Close(CloseCode code, std::string_view reason) {
  CheckSendable(code);
  if (IsOpen()) {
    phase_ = Phase::kClosing;
    progress_ = true;
    SendClose(code, reason);
  }
}

void WebSocket::SendClose(CloseCode code, std::string_view reason) {
  std::array<char, kMaxControlPayload> payload{};
  const std::size_t size = WriteClosePayload(code, reason, payload.data());
  SendControl(Opcode::kClose, {payload.data(), size});
}

}  // namespace TURTLE_SERVER
