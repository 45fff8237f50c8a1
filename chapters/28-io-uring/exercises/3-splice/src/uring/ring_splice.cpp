#include "uring/ring_splice.h"

namespace TURTLE_SERVER {

auto SpliceFile(Ring& /*ring*/, int /*file*/, std::uint64_t /*offset*/, std::uint64_t /*size*/,
                int /*socket*/) -> std::uint64_t {
  return 0;  // TODO: IORING_OP_SPLICE, twice, with a pipe between
}

}  // namespace TURTLE_SERVER
