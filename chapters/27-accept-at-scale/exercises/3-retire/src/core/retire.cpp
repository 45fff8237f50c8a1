#include "core/retire.h"

namespace TURTLE_SERVER {

void Retire(std::vector<Socket>& listeners, std::size_t index,
            const std::function<void(Socket, const NetAddress&)>& /*take*/) {
  // TODO: its waiting clients are lost
  listeners.erase(listeners.begin() + static_cast<std::ptrdiff_t>(index));
}

}  // namespace TURTLE_SERVER
