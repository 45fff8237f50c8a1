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
/// throws, that is logged, and the socket is closed with 1011.
struct WebSocketHandlers {
  /// Called before the upgrade. It may refuse the request, by throwing HttpError.
  /// @return what Data() returns later, such as the user of a cookie; may be nullptr
  std::function<std::shared_ptr<void>(Exchange&)> on_request{};
  std::function<void(WebSocket&)> on_open{};                     ///< called once, first
  std::function<void(WebSocket&, const Message&)> on_message{};  ///< called for each message
  /// Called when there is room again after CanSend() was false.
  std::function<void(WebSocket&)> on_room{};
  /// Called once, last. The code is the client's, or the server's if the server has closed because
  /// of a broken rule. kNoCode: the client gave none. kAbnormal: it left without a Close.
  std::function<void(WebSocket&, CloseCode, std::string_view reason)> on_close{};
};

}  // namespace TURTLE_SERVER
