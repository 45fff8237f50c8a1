#include "bench/loopback_source.h"

#ifdef __linux__

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>

namespace TURTLE_SERVER {

namespace {

constexpr std::uint32_t kSources = 64;

}  // namespace

auto HasLoopbackSources(const NetAddress& server) -> bool {
  if (server.Family() != AF_INET) {
    return false;
  }
  const auto* address = reinterpret_cast<const sockaddr_in*>(server.Data());
  return ntohl(address->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

auto BindLoopbackSource(int fd, std::uint32_t number) noexcept -> int {
  sockaddr_in source{};
  source.sin_family = AF_INET;
  source.sin_addr.s_addr = htonl(INADDR_LOOPBACK + number % kSources);
  const int on = 1;
  const bool bound = ::setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on) == 0 &&
                     ::bind(fd, reinterpret_cast<const sockaddr*>(&source), sizeof source) == 0;
  return bound ? 0 : errno;
}

}  // namespace TURTLE_SERVER

#endif  // __linux__
