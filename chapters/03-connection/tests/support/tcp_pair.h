// Both ends of a TCP connection within this machine, and waiting for what the kernel does to it.
#pragma once

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <utility>

#include "base/unique_fd.h"
#include "core/net_address.h"
#include "core/socket.h"
#include "support/client.h"

namespace TURTLE_SERVER::test {

/// A connection: the server's end, non-blocking, and the client's end.
struct TcpPair {
  Socket server;  ///< from Accept()
  Client client;  ///< blocking, with time limits
};

/// Makes a pair, over IPv4.
inline auto MakeTcpPair() -> TcpPair {
  Socket listener;
  listener.Bind(NetAddress("127.0.0.1", 0));
  listener.Listen();
  Client client(listener.LocalAddress().Port());
  NetAddress from;
  Socket server(UniqueFd(listener.Accept(from)));
  server.SetNonBlocking();
  return {std::move(server), std::move(client)};
}

/// Waits until `fd` is ready for POLLIN or POLLOUT, whichever is given; false after ten seconds.
[[nodiscard]] inline auto AwaitReady(int fd, short events) -> bool {
  pollfd waiting{fd, events, 0};
  for (;;) {
    const int ready = ::poll(&waiting, 1, static_cast<int>(kPatience.count()));
    if (ready >= 0 || errno != EINTR) {
      return ready > 0;
    }
  }
}

/// Waits until at least `count` bytes can be received from `fd`; false after ten seconds.
[[nodiscard]] inline auto AwaitBytes(int fd, std::size_t count) -> bool {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  for (int there = 0; static_cast<std::size_t>(there) < count;) {
    if (::ioctl(fd, FIONREAD, &there) != 0 || std::chrono::steady_clock::now() > deadline) {
      return false;
    }
  }
  return true;
}

/// Makes the kernel keep few bytes for `fd`, so that its queue fills early.
inline void ShrinkSendBuffer(int fd) {
  const int bytes = 16 * 1024;
  ::setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
}

/// Makes the kernel take at least a few hundred thousand bytes for `fd` before anybody reads them.
inline void WidenReceiveBuffer(int fd) {
  const int bytes = 1024 * 1024;
  ::setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
}

}  // namespace TURTLE_SERVER::test
