// Passes listeners to a process that was not started by this one, through a Unix socket: SCM_RIGHTS
// in unix(7).
//
// A listener travels as one byte, the length of its name, which has the descriptor attached, and
// the name. A byte of zero without a descriptor ends the list.
//
// Thread: free functions without state.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "base/unique_fd.h"

namespace TURTLE_SERVER {

/// A listener that goes to another process, or has come from one.
struct PassedListener {
  UniqueFd fd;       ///< listens
  std::string name;  ///< 1 to 255 bytes
};

/// No list is longer.
inline constexpr std::size_t kMaxPassed = 64;

/// Sends `listeners`; both processes have them afterwards.
/// @param channel a connected stream socket of AF_UNIX, blocking or not
/// @param listeners at most kMaxPassed
/// @throws std::invalid_argument "65 listeners: at most 64", "a name of 256 bytes: 1 to 255", with
///     nothing sent; std::system_error when the other end has gone, and no SIGPIPE
void SendListeners(int channel, const std::vector<PassedListener>& listeners);

/// Receives what SendListeners() sends.
/// @param channel a connected stream socket of AF_UNIX, blocking or not
/// @param patience how long the whole list may take
/// @return the listeners in their order, each with close-on-exec
/// @throws std::runtime_error "passed listeners: " and "the other end has gone", "nothing within
///     100 ms", "2 descriptors at once", "no descriptor", "'http' does not listen", "more than 64";
///     all descriptors that had come are closed then
[[nodiscard]] auto ReceiveListeners(int channel, std::chrono::milliseconds patience)
    -> std::vector<PassedListener>;

}  // namespace TURTLE_SERVER
