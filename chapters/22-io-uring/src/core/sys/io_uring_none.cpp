// MakeIoUringPoller() where the library is built without.
#ifndef TURTLE_WITH_IO_URING

#include <cerrno>
#include <system_error>

#include "core/io_uring.h"

namespace TURTLE_SERVER {

auto MakeIoUringPoller() -> std::unique_ptr<Poller> {
  throw std::system_error(ENOSYS, std::generic_category(), "io_uring: built without");
}

}  // namespace TURTLE_SERVER

#endif  // not TURTLE_WITH_IO_URING
