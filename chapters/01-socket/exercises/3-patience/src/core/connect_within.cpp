#include "core/connect_within.h"

namespace TURTLE_SERVER {

auto ConnectWithin(const NetAddress& server, std::chrono::milliseconds limit) -> Socket {
  static_cast<void>(limit);  // TODO: apply it
  Socket socket;
  socket.Connect(server);
  return socket;
}

}  // namespace TURTLE_SERVER
