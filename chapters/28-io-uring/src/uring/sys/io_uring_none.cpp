// MakeIoUringEngine() where the library is built without io_uring.
#ifndef TURTLE_WITH_IO_URING

#include <cerrno>
#include <system_error>

#include "core/engine.h"

namespace TURTLE_SERVER {

auto MakeIoUringEngine() -> std::unique_ptr<Engine> {
  throw std::system_error(ENOSYS, std::generic_category(), "io_uring: built without");
}

}  // namespace TURTLE_SERVER

#endif  // not TURTLE_WITH_IO_URING
