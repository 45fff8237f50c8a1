#include "uring/ring_read.h"

namespace TURTLE_SERVER {

auto ReadFile(Ring& /*ring*/, int /*fd*/, std::uint64_t /*offset*/, char* /*room*/,
              std::size_t /*size*/) -> std::size_t {
  return 0;  // TODO: IORING_OP_READ, piece by piece
}

}  // namespace TURTLE_SERVER
