#include "websocket/websocket_client.h"

#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <cstring>
#include <stdexcept>

#include "base/ascii.h"
#include "websocket/accept_key.h"
#include "websocket/handshake.h"
#include "websocket/masking.h"
#include "websocket/message.h"

namespace TURTLE_SERVER {

namespace {

constexpr std::size_t kMaxHead = std::size_t{16} * 1024;

auto TimeOf(std::chrono::milliseconds timeout) noexcept -> timeval {
  timeval time{};
  time.tv_sec = static_cast<decltype(time.tv_sec)>(timeout.count() / 1000);
  time.tv_usec = static_cast<decltype(time.tv_usec)>(timeout.count() % 1000 * 1000);
  return time;
}

}  // namespace

WebSocketClient::WebSocketClient(const NetAddress& server, const WebSocketClientOptions& options) {
  socket_.Connect(server);
  const timeval time = TimeOf(options.timeout);
  ::setsockopt(socket_.GetFd(), SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
  ::setsockopt(socket_.GetFd(), SOL_SOCKET, SO_SNDTIMEO, &time, sizeof(time));
  ShakeHands(options);
  ReaderRules rules;
  rules.masked = false;
  rules.max_message_bytes = options.max_message_bytes;
  rules.max_fragments = options.max_message_bytes;
  if (terms_) {
    rules.inflates = true;
    rules.keeps_context = terms_->server_takeover;
    rules.window_bits = terms_->server_window_bits;
    deflater_ = std::make_unique<RawDeflater>(terms_->client_window_bits);
  }
  reader_.Begin(rules);
}

void WebSocketClient::ShakeHands(const WebSocketClientOptions& options) {
  std::string nonce;
  for (int i = 0; i < 4; ++i) {
    const MaskingKey four = NewKey();
    nonce.append(reinterpret_cast<const char*>(four.data()), four.size());
  }
  const std::string key = Base64(nonce);
  std::string request = "GET " + options.target + " HTTP/1.1\r\nHost: " + options.host +
                        "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " +
                        key + "\r\n";
  if (!options.origin.empty()) {
    request.append("Origin: ").append(options.origin).append("\r\n");
  }
  for (const std::string& each : options.protocols) {
    request.append("Sec-WebSocket-Protocol: ").append(each).append("\r\n");
  }
  if (!options.extensions.empty()) {
    request.append("Sec-WebSocket-Extensions: ").append(options.extensions).append("\r\n");
  }
  SendBytes(request.append(options.fields).append("\r\n"));
  ReadResponse();
  CheckResponse(key);
}

void WebSocketClient::ReadResponse() {
  std::size_t end = 0;
  while ((end = input_.find("\r\n\r\n")) == std::string::npos) {
    if (input_.size() > kMaxHead || Fill() != IoStatus::kBytes) {
      throw std::runtime_error("websocket: no response to the handshake");
    }
  }
  response_ = input_.substr(0, end + 4);
  used_ = response_.size();
}

void WebSocketClient::CheckResponse(std::string_view key) {
  if (response_.compare(0, 12, "HTTP/1.1 101") != 0) {
    throw std::runtime_error("websocket: " + response_.substr(0, response_.find("\r\n")));
  }
  if (FieldOf("Sec-WebSocket-Accept") != AcceptKey(key)) {
    throw std::runtime_error("websocket: the response has a wrong Sec-WebSocket-Accept");
  }
  protocol_ = FieldOf("Sec-WebSocket-Protocol");
  const std::string_view extensions = FieldOf("Sec-WebSocket-Extensions");
  if (!extensions.empty()) {
    terms_ = ReadDeflateResponse(extensions);
    if (!terms_) {
      throw std::runtime_error("websocket: unknown extension " + std::string(extensions));
    }
  }
}

// Returns the value of a field of the response, or "".
auto WebSocketClient::FieldOf(std::string_view name) const -> std::string_view {
  std::string_view rest = response_;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find("\r\n"));
    rest.remove_prefix(line.size() + 2);
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos && ascii::EqualIgnoreCase(line.substr(0, colon), name)) {
      return ascii::TrimOws(line.substr(colon + 1));
    }
  }
  return {};
}

auto WebSocketClient::NewKey() -> MaskingKey {
  const std::uint32_t number = random_();
  MaskingKey key{};
  std::memcpy(key.data(), &number, key.size());
  return key;
}

auto WebSocketClient::Send(MessageKind kind, std::string_view bytes) -> bool {
  FrameHead head;
  head.opcode = OpcodeOf(kind);
  if (!deflater_) {
    return SendFrame(head, bytes);
  }
  std::string coded;
  if (!terms_->client_takeover) {
    deflater_->Reset();
  }
  deflater_->Add(bytes, coded);
  head.compressed = true;
  return SendFrame(head, coded);
}

auto WebSocketClient::Ping(std::string_view payload) -> bool {
  FrameHead head;
  head.opcode = Opcode::kPing;
  return SendFrame(head, payload);
}

auto WebSocketClient::Close(CloseCode code, std::string_view reason) -> bool {
  FrameHead head;
  head.opcode = Opcode::kClose;
  std::array<char, kMaxControlPayload> payload{};
  const std::size_t size = WriteClosePayload(code, reason, payload.data());
  close_sent_ = true;
  return SendFrame(head, {payload.data(), size});
}

auto WebSocketClient::SendFrame(FrameHead head, std::string_view payload) -> bool {
  head.masked = true;
  head.length = payload.size();
  head.key = NewKey();
  std::string frame(kMaxFrameHead, '\0');
  frame.resize(WriteFrameHead(head, frame.data()));
  const std::size_t begin = frame.size();
  frame.append(payload);
  Mask(head.key, 0, frame.data() + begin, frame.data() + begin, payload.size());
  return SendBytes(frame);
}

auto WebSocketClient::SendBytes(std::string_view bytes) -> bool {
  while (!bytes.empty()) {
    const IoResult sent = socket_.Send(bytes);
    if (sent.status != IoStatus::kBytes) {
      return false;
    }
    bytes.remove_prefix(sent.bytes);
  }
  return true;
}

auto WebSocketClient::Fill() -> IoStatus {
  std::array<char, std::size_t{64} * 1024> bytes;  // NOLINT: recv fills it in
  const IoResult result = socket_.Recv(bytes.data(), bytes.size());
  if (result.status == IoStatus::kBytes) {
    input_.erase(0, used_);
    used_ = 0;
    input_.append(bytes.data(), result.bytes);
  }
  return result.status;
}

auto WebSocketClient::ReceiveFrame() -> std::optional<WebSocketEvent> {
  for (;;) {
    std::string_view rest = std::string_view(input_).substr(used_);
    const ReadEvent event = reader_.Next(rest);
    used_ = input_.size() - rest.size();
    if (event != ReadEvent::kNeedInput) {
      return WebSocketEvent{event, reader_.Kind(), reader_.Code(), std::string(reader_.Bytes())};
    }
    const IoStatus status = Fill();
    if (status == IoStatus::kWouldBlock) {
      return std::nullopt;
    }
    if (status != IoStatus::kBytes) {
      return WebSocketEvent();
    }
  }
}

auto WebSocketClient::Receive() -> std::optional<WebSocketEvent> {
  for (;;) {
    auto event = ReceiveFrame();
    if (event && event->event == ReadEvent::kPing) {
      FrameHead head;
      head.opcode = Opcode::kPong;
      SendFrame(head, event->bytes);
    } else if (!event || event->event != ReadEvent::kPong) {
      if (event && event->event == ReadEvent::kClose && !close_sent_) {
        Close(event->code);
      }
      return event;
    }
  }
}

}  // namespace TURTLE_SERVER
