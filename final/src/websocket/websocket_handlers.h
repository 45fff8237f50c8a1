// The functions that handle the WebSockets of a path.
//
// Thread: those of all loops at the same time, but one thread for each socket.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "websocket/close_code.h"
#include "websocket/message.h"

namespace TURTLE_SERVER {

class Exchange;
class WebSocket;

/// The functions that handle the WebSockets of a path. Each may be empty. If one
/// throws, that is logged, and the socket is closed with 1011. After one has closed the
/// connection itself, only on_close follows.
struct WebSocketHandlers {
  /// Called before the upgrade. It may refuse the request, by throwing HttpError. No middleware of
  /// the server has seen the request (HttpServer::Use()), so this is the place to check a client.
  /// It must decide before it returns, while the loop's other clients wait.
  /// @return what Data() returns later, such as the user of a cookie; may be nullptr
  std::function<std::shared_ptr<void>(Exchange&)> on_request{};
  /// Called once, first. If the server stops at this time, the socket isn't open any more.
  std::function<void(WebSocket&)> on_open{};
  std::function<void(WebSocket&, const Message&)> on_message{};  ///< called for each message
  /// Called when there is room again after CanSend() was false.
  std::function<void(WebSocket&)> on_room{};
  /// Called once, last, unless the client was gone before on_open. The code is the client's, or the
  /// server's if the server has closed because of a broken rule. kNoCode: the client gave none.
  /// kAbnormal: it left without a Close.
  std::function<void(WebSocket&, CloseCode, std::string_view reason)> on_close{};
};

}  // namespace TURTLE_SERVER
