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

/// Listens on 127.0.0.1 as the options say, prints "listening on 127.0.0.1:PORT", raises the limit
/// of descriptors to what is allowed and makes SIGPIPE harmless.
/// @return one blocking or non-blocking listener for each thread, as `socket_flags` says.
/// Throws std::system_error that names what failed.
[[nodiscard]] auto OpenListeners(const FloorOptions& options, int socket_flags)
    -> std::vector<UniqueFd>;

}  // namespace TURTLE_SERVER
