#include "websocket/websocket_ticket.h"

#include <utility>

#include "websocket/websocket_session.h"

namespace TURTLE_SERVER {

auto WebSocketTicket::Send(MessageKind kind, std::string bytes) const -> bool {
  return Post([kind, bytes = std::move(bytes)](WebSocket& socket) { socket.Send(kind, bytes); });
}

auto WebSocketTicket::Close(CloseCode code, std::string reason) const -> bool {
  WebSocket::CheckSendable(code);
  return Post(
      [code, reason = std::move(reason)](WebSocket& socket) { socket.Close(code, reason); });
}

auto WebSocketTicket::Post(std::function<void(WebSocket&)> task) const -> bool {
  return ticket_.Post([task = std::move(task)](Connection* connection) {
    static_cast<WebSocketSession&>(Session::Of(*connection)).Run(task);
  });
}

}  // namespace TURTLE_SERVER
