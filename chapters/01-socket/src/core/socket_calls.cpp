#include "core/socket_calls.h"

#ifndef __APPLE__

#include <sys/socket.h>

namespace TURTLE_SERVER {

const int kNoSignal = MSG_NOSIGNAL;

// The call itself sets CLOEXEC: between socket(2) and fcntl(2) another thread might start a
// program, and that program would hold our port open.
auto OpenSocket(int family, FdMode mode) noexcept -> int {
  const int non_blocking = mode == FdMode::kNonBlocking ? SOCK_NONBLOCK : 0;
  return ::socket(family, SOCK_STREAM | SOCK_CLOEXEC | non_blocking, 0);
}

auto AcceptSocket(int listener, NetAddress& client, FdMode mode) noexcept -> int {
  client = NetAddress();  // an empty one has room for every kind of address
  const int non_blocking = mode == FdMode::kNonBlocking ? SOCK_NONBLOCK : 0;
  return ::accept4(listener, client.Data(), client.Length(), SOCK_CLOEXEC | non_blocking);
}

void MuteSigpipe(int /*fd*/) noexcept {}

}  // namespace TURTLE_SERVER

#endif  // not __APPLE__
