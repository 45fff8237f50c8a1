// A WebSocket as another thread may hold it.
//
//   echo.on_message = [&pool](WebSocket& socket, const Message& message) {
//     pool.Submit([ticket = WebSocketTicket(socket), question = std::string(message.bytes)] {
//       ticket.SendText(Answer(question));
//     });
//   };
//
// The message travels to the socket's loop as a task. If the client is gone by then, nothing
// happens. Nothing limits how many messages are on their way: WebSocketOptions::overflow applies
// when they arrive. A thread that sends without end has to let the client's questions, or on_room,
// set the pace.
//
// Thread: any; made on the loop's.
#pragma once

#include <functional>
#include <string>

#include "core/connection_ticket.h"
#include "websocket/message_reader.h"
#include "websocket/websocket.h"

namespace TURTLE_SERVER {

/// Identifies one WebSocket, for other threads. May be copied, kept and used at any time.
class WebSocketTicket {
 public:
  /// Makes a ticket for `socket`. On its loop's thread.
  explicit WebSocketTicket(const WebSocket& socket) : ticket_(socket.GetConnection()) {}

  /// Sends a message as WebSocket::Send() does. Throws only std::bad_alloc.
  /// @return false: the loop has ended. True does not mean that the client is still there.
  auto Send(MessageKind kind, std::string bytes) const -> bool;

  /// Sends a text, which must be UTF-8.
  auto SendText(std::string text) const -> bool {
    return Send(MessageKind::kText, std::move(text));
  }

  /// Sends bytes.
  auto SendBinary(std::string bytes) const -> bool {
    return Send(MessageKind::kBinary, std::move(bytes));
  }

  /// Closes the socket, as WebSocket::Close(). Throws std::invalid_argument here, in the caller.
  /// @return false: the loop has ended
  auto Close(CloseCode code = CloseCode::kNormal, std::string reason = {}) const -> bool;

  /// Runs `task` with the socket, on its loop's thread, if it is still there.
  /// @return false: the loop has ended, and the task does not run
  auto Post(std::function<void(WebSocket&)> task) const -> bool;

 private:
  ConnectionTicket ticket_;
};

}  // namespace TURTLE_SERVER
