// The listening sockets of a floor.
//
// Interface:
//  * OpenListeners() makes one for each thread; the kernel spreads the clients over them.
//
// Thread: main, before the others are started.
#pragma once

#include <vector>

#include "base/unique_fd.h"
#include "floor_options.h"

namespace TURTLE_SERVER {

/// Listens on 127.0.0.1 with these options, prints "listening on 127.0.0.1:PORT", raises the limit
/// of descriptors to its maximum and ignores SIGPIPE.
/// @return one blocking or non-blocking listener for each thread, depending on `socket_flags`.
/// Throws std::system_error that names the failed call.
[[nodiscard]] auto OpenListeners(const FloorOptions& options, int socket_flags)
    -> std::vector<UniqueFd>;

}  // namespace TURTLE_SERVER
