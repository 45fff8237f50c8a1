#include "core/tcp.h"

#include <utility>

namespace TURTLE_SERVER {

auto AcknowledgedSince(int socket, std::uint32_t& before) noexcept -> std::uint32_t {
  const std::uint32_t now = AcknowledgedBytes(socket);
  return now - std::exchange(before, now);
}

}  // namespace TURTLE_SERVER
