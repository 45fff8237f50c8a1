#include "loopback_pair.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace TURTLE_SERVER::bench {
namespace {

auto Check(int result, const char* what) -> int {
  if (result < 0) {
    throw std::system_error(errno, std::generic_category(), what);
  }
  return result;
}

auto OpenSocket() -> UniqueFd {
  return UniqueFd(Check(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket"));
}

}  // namespace

LoopbackPair::LoopbackPair() : listener_(OpenSocket()), client_(OpenSocket()) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  Check(::bind(listener_.Get(), any, size), "bind");
  Check(::listen(listener_.Get(), 1), "listen");
  Check(::getsockname(listener_.Get(), any, &size), "getsockname");
  Check(::connect(client_.Get(), any, size), "connect");
  server_ = UniqueFd(
      Check(::accept4(listener_.Get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC), "accept4"));
  const int on = 1;
  for (const int fd : {client_.Get(), server_.Get()}) {
    Check(::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), "setsockopt");
  }
}

void LoopbackPair::Drain(std::size_t bytes) const {
  static thread_local std::array<char, 65536> scratch;
  while (bytes != 0) {
    const ssize_t count =
        Check(static_cast<int>(::recv(client_.Get(), scratch.data(), scratch.size(), 0)), "recv");
    if (count == 0) {
      throw std::system_error(ECONNRESET, std::generic_category(), "recv");
    }
    bytes -= static_cast<std::size_t>(count);
  }
}

}  // namespace TURTLE_SERVER::bench
