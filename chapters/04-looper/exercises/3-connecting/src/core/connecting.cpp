#include "core/connecting.h"

#include <system_error>

namespace TURTLE_SERVER {

Connecting::Connecting(Looper& looper, const NetAddress& server, ConnectedCallback done)
    : looper_(looper) {
  Socket socket;
  try {
    socket.Connect(server);  // TODO: the loop stands still until the server answers
    socket.SetNonBlocking();
  } catch (const std::system_error& error) {
    done(UniqueFd(), error.code().value());
    return;
  }
  done(socket.Release(), 0);  // TODO: in a later round
}

}  // namespace TURTLE_SERVER
