#include "core/tcp.h"

#include <sys/socket.h>

#include <utility>

namespace TURTLE_SERVER {

namespace {

constexpr std::uint32_t kPlenty = std::uint32_t{1} << 30;  // as if that many bytes had been read

auto IsUnix(int socket) noexcept -> bool {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  return getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0 &&
         address.ss_family == AF_UNIX;
}

}  // namespace

// For a unix socket the kernel has no such count. It only reports how much is in the socket, which
// is the same before and after it was read and refilled. The client is a program on this machine
// that has been granted access: it may take its time.
auto AcknowledgedSince(int socket, std::uint32_t& before) noexcept -> std::uint32_t {
  if (IsUnix(socket)) {
    return kPlenty;
  }
  const std::uint32_t now = AcknowledgedBytes(socket);
  return now - std::exchange(before, now);
}

}  // namespace TURTLE_SERVER
