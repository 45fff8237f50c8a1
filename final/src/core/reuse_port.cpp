#include "core/reuse_port.h"

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "core/socket_calls.h"
#include "log/log.h"

namespace TURTLE_SERVER {

namespace {

auto OpenBeside(const NetAddress& address, int backlog) -> Socket {
  UniqueFd fd(OpenSocket(address.Family(), FdMode::kBlocking));
  if (!fd || !SharePort(fd.Get())) {
    throw std::system_error(errno, std::generic_category(), "socket " + address.ToString());
  }
  Socket listener(std::move(fd));
  listener.Bind(address);
  listener.Listen(backlog);
  return listener;
}

// Opens more listeners until there are `count`. The first one must already listen: see the header
// comment of reuse_port.h.
void OpenSiblings(std::vector<Socket>& listeners, std::size_t count, int backlog) {
  const NetAddress address = listeners.front().LocalAddress();
  if (count > 1 && !SharePort(listeners.front().GetFd())) {
    Log(LogLevel::kWarning, "accept: no listener for each loop at " + address.ToString() +
                                ": this system distributes no clients, the first loop does");
    return;
  }
  while (listeners.size() < count) {
    listeners.push_back(OpenBeside(address, backlog));
  }
}

}  // namespace

auto OpenListeners(const NetAddress& local, std::size_t count, int backlog) -> std::vector<Socket> {
  std::vector<Socket> listeners(1);
  listeners.front().Bind(local);
  listeners.front().Listen(backlog);
  OpenSiblings(listeners, count, backlog);
  return listeners;
}

}  // namespace TURTLE_SERVER
