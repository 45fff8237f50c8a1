#include "core/pass_descriptor.h"

#include <cerrno>

namespace TURTLE_SERVER {

auto SendDescriptor(int /*channel*/, int /*fd*/) noexcept -> int { return ENOSYS; }  // TODO

auto ReceiveDescriptor(int /*channel*/) noexcept -> ReceivedDescriptor {
  return {UniqueFd(), ENOSYS};  // TODO
}

}  // namespace TURTLE_SERVER
