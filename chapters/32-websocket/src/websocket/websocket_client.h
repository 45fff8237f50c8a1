// A WebSocket client that waits: for tests, tools and small programs.
//
//   WebSocketClient client(NetAddress("127.0.0.1", 20080));
//   client.SendText("hello");
//   const auto reply = client.Receive();  // nullopt after ten seconds
//
// Interface:
//  * The constructor connects, and does the handshake.
//  * SendText(), SendBinary(), Ping() and Close() send frames.
//  * Receive() waits for a message, or for the end; it answers Pings by itself.
//  * SendFrame(), SendBytes() and ReceiveFrame() are for tests: they follow no rule.
//
// Thread: one at a time.
// Source: RFC 6455.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "compress/raw_deflate.h"
#include "core/net_address.h"
#include "core/socket.h"
#include "websocket/frame.h"
#include "websocket/message_reader.h"
#include "websocket/permessage_deflate.h"

namespace TURTLE_SERVER {

/// The request of a client.
struct WebSocketClientOptions {
  std::string target = "/";                   ///< the path, perhaps with a query
  std::string host = "localhost";             ///< the field Host
  std::string origin{};                       ///< the field Origin; "": none, as programs have none
  std::vector<std::string> protocols{};       ///< subprotocols, the best first
  std::string extensions{};                   ///< such as "permessage-deflate"; "": none
  std::string fields{};                       ///< more fields, each with its CR LF
  std::chrono::milliseconds timeout{10'000};  ///< of each wait
  std::size_t max_message_bytes = std::size_t{64} << 20;  ///< decompressed
};

/// A message, a control frame or the end.
struct WebSocketEvent {
  ReadEvent event = ReadEvent::kFailed;     ///< kFailed: the server breaks a rule, or is gone
  MessageKind kind = MessageKind::kBinary;  ///< of a message
  CloseCode code = CloseCode::kAbnormal;    ///< of an end
  std::string bytes{};                      ///< of a message or a control frame
};

/// One connection to a server.
class WebSocketClient {
 public:
  /// Connects. Throws std::system_error if that fails, and std::runtime_error, with the server's
  /// response, if it is not a right 101.
  explicit WebSocketClient(const NetAddress& server, const WebSocketClientOptions& options = {});

  /// Sends a message, compressed if that was agreed on. @return false: the connection is gone
  auto Send(MessageKind kind, std::string_view bytes) -> bool;

  /// Sends a text, which must be UTF-8.
  auto SendText(std::string_view text) -> bool { return Send(MessageKind::kText, text); }

  /// Sends bytes.
  auto SendBinary(std::string_view bytes) -> bool { return Send(MessageKind::kBinary, bytes); }

  /// Sends a Ping of at most 125 bytes.
  auto Ping(std::string_view payload = {}) -> bool;

  /// Sends a Close; Receive() returns the server's.
  /// @param code kNoCode: none
  /// @param reason UTF-8, at most 123 bytes; the rest is cut off
  /// @return false: the connection is gone
  auto Close(CloseCode code = CloseCode::kNormal, std::string_view reason = {}) -> bool;

  /// Waits for a message, a Close, or the end of the connection: kFailed. Answers Pings and drops
  /// Pongs. The first Close on the connection gets one in return.
  /// @return nullopt: the timeout has passed
  auto Receive() -> std::optional<WebSocketEvent>;

  /// Waits for any event, and answers nothing.
  auto ReceiveFrame() -> std::optional<WebSocketEvent>;

  /// Sends a frame; its length and its key are set here.
  auto SendFrame(FrameHead head, std::string_view payload) -> bool;

  /// Sends bytes as they are.
  auto SendBytes(std::string_view bytes) -> bool;

  /// Returns the head of the server's response.
  [[nodiscard]] auto ResponseHead() const noexcept -> std::string_view { return response_; }

  /// Returns the subprotocol that the server has chosen, or "".
  [[nodiscard]] auto Protocol() const noexcept -> std::string_view { return protocol_; }

  /// Returns the compression that was agreed on, if any.
  [[nodiscard]] auto Deflate() const noexcept -> const std::optional<DeflateTerms>& {
    return terms_;
  }

  /// Returns the socket.
  [[nodiscard]] auto GetSocket() noexcept -> Socket& { return socket_; }

 private:
  void ShakeHands(const WebSocketClientOptions& options);
  void ReadResponse();
  void CheckResponse(std::string_view key);
  [[nodiscard]] auto FieldOf(std::string_view name) const -> std::string_view;
  auto NewKey() -> MaskingKey;
  auto Fill() -> IoStatus;

  Socket socket_;
  std::random_device random_;
  std::string response_;
  std::string protocol_;
  std::optional<DeflateTerms> terms_;
  std::unique_ptr<RawDeflater> deflater_;
  MessageReader reader_;
  std::string input_;
  std::size_t used_ = 0;  // bytes of input_
  bool close_sent_ = false;
};

}  // namespace TURTLE_SERVER
