#include "websocket/websocket_handler.h"

#include <utility>

#include "web/exchange.h"
#include "web/http_server.h"
#include "websocket/handshake.h"
#include "websocket/websocket_session.h"

namespace TURTLE_SERVER {

void WebSocketHandler::Handle(Exchange& exchange) {
  if (!exchange.SubPath().empty() && exchange.SubPath() != "/") {
    exchange.Reply(ErrorResponse(404));
    return;
  }
  const WebSocketOptions& options = sockets_.Options();
  if (const auto refusal = CheckHandshake(exchange.GetRequest(), options)) {
    exchange.Reply(*refusal);
    return;
  }
  if (!exchange.CanUpgrade("websocket")) {
    exchange.Reply(ErrorResponse(503, "The server takes no new WebSockets at the moment."));
    return;
  }
  const auto& on_request = sockets_.Handlers().on_request;
  std::shared_ptr<void> data = on_request ? on_request(exchange) : nullptr;
  if (exchange.Begun()) {
    return;  // on_request has responded in its own way
  }
  const Agreement agreement = Agree(exchange.GetRequest(), options);
  exchange.Upgrade("websocket", AcceptFields(exchange.GetRequest(), options, agreement),
                   [this, agreement, data = std::move(data)](Connection& connection) {
                     return std::make_unique<WebSocketSession>(connection, sockets_, agreement,
                                                               data);
                   });
}

// A member of the server, because users look for it there. It is implemented in this file, because
// `web` knows nothing of WebSockets.
auto HttpServer::WebSocket(std::string path, const WebSocketHandlers& handlers,
                           const WebSocketOptions& options) -> HttpServer& {
  const auto route =
      std::make_shared<const WebSocketRoute>(WebSocketRoute{handlers, Checked(options)});
  return Mount(std::move(path),
               [route](Looper&) { return std::make_unique<WebSocketHandler>(route); });
}

auto HttpServer::WebSocket(std::string path, const WebSocketHandlers& handlers) -> HttpServer& {
  return WebSocket(std::move(path), handlers, WebSocketOptions());
}

}  // namespace TURTLE_SERVER
