#include "core/queue_length.h"

namespace TURTLE_SERVER {

auto LengthOfQueue(int /*socket*/) noexcept -> std::optional<QueueLength> {
  return std::nullopt;  // TODO: ask the kernel
}

}  // namespace TURTLE_SERVER
