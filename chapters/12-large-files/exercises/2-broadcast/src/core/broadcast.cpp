#include "core/broadcast.h"

namespace TURTLE_SERVER {

auto Broadcast(Looper& /*looper*/, std::string /*text*/) -> std::size_t { return 0; }

}  // namespace TURTLE_SERVER
