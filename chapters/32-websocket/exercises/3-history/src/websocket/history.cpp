#include "websocket/history.h"

namespace TURTLE_SERVER {

History::History(std::size_t /*messages*/, std::size_t /*bytes*/) {
  // TODO
}

void History::Join(WebSocket& /*socket*/) const {
  // TODO
}

auto History::Leave(WebSocket& /*socket*/) const -> bool {
  return false;  // TODO
}

void History::Publish(MessageKind /*kind*/, std::string_view /*bytes*/) const {
  // TODO
}

auto History::Count() const -> std::size_t {
  return 0;  // TODO
}

}  // namespace TURTLE_SERVER
