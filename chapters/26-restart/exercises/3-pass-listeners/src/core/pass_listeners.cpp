#include "core/pass_listeners.h"

namespace TURTLE_SERVER {

void SendListeners(int /*channel*/, const std::vector<PassedListener>& /*listeners*/) {
  // TODO: sendmsg(2)
}

auto ReceiveListeners(int /*channel*/, std::chrono::milliseconds /*patience*/)
    -> std::vector<PassedListener> {
  return {};  // TODO: recvmsg(2)
}

}  // namespace TURTLE_SERVER
