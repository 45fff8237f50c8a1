// Upgrades the requests of one path to WebSockets.
//
// HttpServer::WebSocket() mounts it without middleware. Mounted by RouteGroup::Mount(), it has that
// of the group and of the server.
//
// Thread: the loop's.
#pragma once

#include <memory>
#include <utility>

#include "web/request_handler.h"
#include "websocket/loop_sockets.h"

namespace TURTLE_SERVER {

/// The handler of one path, on one loop. HttpServer::WebSocket() mounts it.
class WebSocketHandler final : public RequestHandler {
 public:
  /// @param route shared by the loops, which never change it; its options have passed Checked()
  explicit WebSocketHandler(std::shared_ptr<const WebSocketRoute> route)
      : sockets_(std::move(route)) {}

  /// Upgrades the connection, or refuses the request: CheckHandshake(). A path below the mount gets
  /// a 404, and a server that is about to stop responds with a 503.
  void Handle(Exchange& exchange) override;

 private:
  LoopSockets sockets_;
};

}  // namespace TURTLE_SERVER
