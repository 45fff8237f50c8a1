// Runs a server in the background: the shell shows its prompt again once clients can connect.
//
// Thread: the process must have no other thread when RunInBackground() is called.
#pragma once

#include <functional>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Called by the work when it is ready. Further calls do nothing.
using ReadyCallback = std::function<void()>;

/// Runs `work` in a child process, which outlives this one.
///
/// The child leads its own session (setsid(2)), so Ctrl-C and a closed terminal do not
/// reach it. Its standard input is /dev/null. Its standard output and error are this process's
/// until the work is ready, and /dev/null from then on.
/// @param work returns the child's exit code.
/// @return 0 as soon as the work is ready. If the child ends before: its exit code, or 128 + S if
///         signal S ended it.
/// @throws std::system_error if no process or no pipe can be made.
auto RunInBackground(const std::function<int(const ReadyCallback& ready)>& work) -> int;

}  // namespace TURTLE_SERVER
