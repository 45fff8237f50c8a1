// One client's WebSocket, as a handler sees it.
//
//   WebSocketHandlers echo;
//   echo.on_message = [](WebSocket& socket, const Message& message) {
//     socket.Send(message.kind, message.bytes);
//   };
//   server.WebSocket("/echo", echo);
//
// Interface:
//  * Send(), SendText() and SendBinary() send a message; Ping() asks for a sign of life.
//  * Close() begins the end: the client's Close, or a timeout, completes it.
//  * CanSend() is false while the client reads more slowly than you send.
//  * SetData() and Data() keep an object of yours with the socket.
//
// Other threads use a WebSocketTicket (websocket/websocket_ticket.h).
//
// A handler may keep a pointer from on_open until on_close, and use it on the loop's thread.
//
// Thread: the loop's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "compress/raw_deflate.h"
#include "core/connection.h"
#include "websocket/close_code.h"
#include "websocket/frame.h"
#include "websocket/message.h"
#include "websocket/permessage_deflate.h"
#include "websocket/websocket_handlers.h"

namespace TURTLE_SERVER {

class LoopMembers;
class LoopSockets;
class Session;
struct Agreement;

/// The fate of a message.
enum class SendResult : std::uint8_t {
  kQueued,   ///< it is on its way
  kDropped,  ///< the client reads too slowly, and Overflow::kDrop applies
  kClosed,   ///< the socket is closing, perhaps because of this message
};

/// The topics of one socket (websocket/topics.h). They end with it.
class Subscriptions {
 public:
  virtual ~Subscriptions() = default;
  Subscriptions(const Subscriptions&) = delete;
  auto operator=(const Subscriptions&) -> Subscriptions& = delete;

 protected:
  Subscriptions() = default;
};

/// One client's WebSocket. Owned by its session.
class WebSocket {
 public:
  WebSocket(const WebSocket&) = delete;
  auto operator=(const WebSocket&) -> WebSocket& = delete;

  /// Sends a message. Nothing is allocated for it in a steady state. Throws std::bad_alloc after it
  /// has reset the connection: half of the frame may be queued.
  /// @param kind kText or kBinary
  /// @param bytes copied; a text must be UTF-8, or the client will close
  auto Send(MessageKind kind, std::string_view bytes) -> SendResult;

  /// Sends a text, which must be UTF-8.
  auto SendText(std::string_view text) -> SendResult { return Send(MessageKind::kText, text); }

  /// Sends bytes.
  auto SendBinary(std::string_view bytes) -> SendResult {
    return Send(MessageKind::kBinary, bytes);
  }

  /// Sends a message that is shared with other sockets of this loop. A long one isn't copied.
  /// Throws as the other Send().
  auto Send(const PinTo<PinnedMessage>& message) -> SendResult;

  /// Sends a Ping. The server pings silent clients by itself.
  /// @param payload at most 125 bytes; the rest is cut off
  void Ping(std::string_view payload = {});

  /// Sends a Close, after what was sent before. Messages that still come in are dropped. on_close
  /// follows, with the client's code, or kAbnormal if it doesn't send one within close_timeout.
  /// Repeated, nothing happens.
  /// @param code one that may be sent; throws std::invalid_argument for another
  /// @param reason UTF-8, at most 123 bytes; the rest is cut off
  void Close(CloseCode code = CloseCode::kNormal, std::string_view reason = {});

  /// Returns true until Close() or the client's end.
  [[nodiscard]] auto IsOpen() const noexcept -> bool { return phase_ == Phase::kOpen; }

  /// Returns the bytes that the kernel has not taken yet.
  [[nodiscard]] auto UnsentBytes() const noexcept -> std::size_t;

  /// Returns false above WebSocketOptions::high_water; on_room follows.
  [[nodiscard]] auto CanSend() const noexcept -> bool;

  /// Returns the subprotocol that was agreed on, or "".
  [[nodiscard]] auto Protocol() const noexcept -> std::string_view;

  /// Returns the compression that was agreed on, if any.
  [[nodiscard]] auto Deflate() const noexcept -> const DeflateTerms* {
    return deflates_ ? &terms_ : nullptr;
  }

  /// Keeps an object with the socket.
  void SetData(std::shared_ptr<void> data) noexcept { data_ = std::move(data); }

  /// Returns the object of SetData() or on_request.
  /// @tparam T the type with which it was made; nothing checks that
  template <class T>
  [[nodiscard]] auto Data() const noexcept -> T* {
    return static_cast<T*>(data_.get());
  }

  /// Returns the connection.
  [[nodiscard]] auto GetConnection() const noexcept -> Connection&;

 private:
  friend class WebSocketSession;
  friend class WebSocketTicket;
  friend class Topics;
  friend class LoopMembers;

  // Once the session has ended, no frame is sent; while it closes, only its own Close was.
  enum class Phase : std::uint8_t { kOpen, kClosing, kClosed };

  WebSocket(Session& session, LoopSockets& shared, const Agreement& agreement,
            std::shared_ptr<void> data);
  ~WebSocket();

  static void CheckSendable(CloseCode code);
  void SendControl(Opcode opcode, std::string_view payload);
  void SendClose(CloseCode code, std::string_view reason);
  auto Admit(std::size_t bytes) -> SendResult;
  auto LoseMessage() -> SendResult;
  template <typename Write>
  void WriteOrReset(const Write& write);
  void WriteFrame(const FrameHead& head, std::string_view payload);
  auto Compress(std::string_view bytes) -> std::string_view;
  [[nodiscard]] auto LeastCompressed() const noexcept -> std::optional<std::size_t>;

  Session& session_;
  LoopSockets& shared_;
  DeflateTerms terms_;
  bool deflates_ = false;
  Phase phase_ = Phase::kOpen;
  bool was_full_ = false;  // on_room is due
  bool progress_ = false;  // a message was sent since the session has looked
  std::uint16_t protocol_;
  std::unique_ptr<RawDeflater> deflater_;         // only with context takeover
  std::shared_ptr<void> data_;                    // shared with on_request, which may keep it
  std::unique_ptr<Subscriptions> subscriptions_;  // to topics, if there are any
};

}  // namespace TURTLE_SERVER
