// Passes listeners to a process that was not started by this one, through a Unix socket: SCM_RIGHTS
// in unix(7).
//
// A listener is sent as one byte, the length of its name, with the descriptor attached, and the
// name. A zero byte without a descriptor ends the list.
//
// Thread: free functions without state.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "base/unique_fd.h"

namespace TURTLE_SERVER {

/// A listener sent to another process, or received from one.
struct PassedListener {
  UniqueFd fd;       ///< the listener
  std::string name;  ///< 1 to 255 bytes
};

/// The most listeners in a list.
inline constexpr std::size_t kMaxPassed = 64;

/// Sends `listeners`; afterwards both processes have them.
/// @param channel a connected stream socket of AF_UNIX, blocking or not
/// @param listeners at most kMaxPassed
/// @throws std::invalid_argument "65 listeners: at most 64", "a name of 256 bytes: 1 to 255", with
///     nothing sent; std::system_error if the other end is closed, and no SIGPIPE
void SendListeners(int channel, const std::vector<PassedListener>& listeners);

/// Receives the listeners of SendListeners().
/// @param channel a connected stream socket of AF_UNIX, blocking or not
/// @param patience how long the whole list may take
/// @return the listeners in order, each with close-on-exec
/// @throws std::runtime_error "passed listeners: " and "the other end has gone", "nothing within
///     100 ms", "2 descriptors at once", "no descriptor", "'http' does not listen", "more than 64";
///     all descriptors received by then are closed
[[nodiscard]] auto ReceiveListeners(int channel, std::chrono::milliseconds patience)
    -> std::vector<PassedListener>;

}  // namespace TURTLE_SERVER
