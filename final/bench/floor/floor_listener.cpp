#include "floor_listener.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <cerrno>
#include <iostream>
#include <string>
#include <system_error>

namespace TURTLE_SERVER {

namespace {

constexpr int kBacklog = 65535;      // the kernel lowers it to net.core.somaxconn
constexpr int kDeferredSeconds = 1;  // then even a silent client is accepted

void Check(int result, const std::string& what) {
  if (result < 0) {
    throw std::system_error(errno, std::system_category(), what);
  }
}

void Set(int fd, int level, int option, int value, const char* name) {
  Check(::setsockopt(fd, level, option, &value, sizeof(value)), name);
}

auto OpenListener(const FloorOptions& options, int socket_flags, sockaddr_in& address) -> UniqueFd {
  UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | socket_flags, 0));
  Check(listener.Get(), "socket");
  const int fd = listener.Get();
  Set(fd, SOL_SOCKET, SO_REUSEADDR, 1, "SO_REUSEADDR");
  if (options.threads > 1) {
    Set(fd, SOL_SOCKET, SO_REUSEPORT, 1, "SO_REUSEPORT");
  }
  Set(fd, IPPROTO_TCP, TCP_NODELAY, 1, "TCP_NODELAY");  // clients inherit it
  if (options.deferred) {
    Set(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, kDeferredSeconds, "TCP_DEFER_ACCEPT");
  }
  const auto name = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  Check(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), "bind " + name);
  Check(::listen(fd, kBacklog), "listen " + name);
  socklen_t size = sizeof(address);
  Check(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size), "getsockname");
  return listener;
}

}  // namespace

auto OpenListeners(const FloorOptions& options, int socket_flags) -> std::vector<UniqueFd> {
  ::signal(SIGPIPE, SIG_IGN);
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(options.port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::vector<UniqueFd> listeners;
  for (unsigned i = 0; i < options.threads; ++i) {
    listeners.push_back(OpenListener(options, socket_flags, address));  // all on the first's port
  }
  std::cout << "listening on 127.0.0.1:" << ntohs(address.sin_port) << std::endl;
  return listeners;
}

}  // namespace TURTLE_SERVER
