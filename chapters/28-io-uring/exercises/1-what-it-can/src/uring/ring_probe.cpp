#include "uring/ring_probe.h"

#include <linux/io_uring.h>

namespace TURTLE_SERVER {

auto KnownOperations() -> std::vector<std::uint8_t> {
  return {};  // TODO: ask the kernel
}

}  // namespace TURTLE_SERVER
