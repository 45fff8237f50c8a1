#include "core/connecting.h"

#include <cerrno>

namespace TURTLE_SERVER {

Connecting::Connecting(Looper& /*looper*/, const NetAddress& /*server*/, ConnectedCallback done) {
  done(UniqueFd(), ENOTCONN);  // TODO: connect, and call it in a later round
}

}  // namespace TURTLE_SERVER
