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

}  // namespace

auto OpenListeners(const NetAddress& local, std::size_t count, int backlog) -> std::vector<Socket> {
  std::vector<Socket> listeners(1);
  Socket& first = listeners.front();
  first.Bind(local);
  first.Listen(backlog);
  const NetAddress address = first.LocalAddress();
  if (count > 1 && !SharePort(first.GetFd())) {  // not earlier: see the head of reuse_port.h
    Log(LogLevel::kWarning, "accept: no listener for each loop at " + address.ToString() +
                                ", this system deals no clients out: the first loop does");
    return listeners;
  }
  while (listeners.size() < count) {
    listeners.push_back(OpenBeside(address, backlog));
  }
  return listeners;
}

}  // namespace TURTLE_SERVER
