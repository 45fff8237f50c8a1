// The poller that stands on io_uring(7), where there is one.
//
// Interface: MakeIoUringPoller() is in io_uring_poller.cpp, and in io_uring_none.cpp for systems
// whose headers don't know what it takes, or whoever builds without (-DTURTLE_IO_URING=OFF).
//
// Thread: any.
#pragma once

#include <memory>

#include "core/poller.h"

namespace TURTLE_SERVER {

/// A poller that is a Transport too, for one loop. Throws std::system_error that names the call
/// that was refused: the kernel is older than Linux 6.1, or a sandbox forbids it.
[[nodiscard]] auto MakeIoUringPoller() -> std::unique_ptr<Poller>;

}  // namespace TURTLE_SERVER
