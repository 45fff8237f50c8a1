// Keeps a server running: it does the work in a child process, and starts another after a crash.
//
// Thread: the process must have no other thread when Supervise() is called.
#pragma once

#include <cstddef>
#include <functional>
#include <iosfwd>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Runs `work` in a child process until a child exits, or this process is asked to stop.
///
/// If a signal has ended a child, it has crashed: `log` gets the line "process N was ended by
/// signal S", and the next child is started. SIGINT and SIGTERM are passed on to the child, and no
/// other is started after that. On return, and in each child before `work`, this thread's signal
/// mask is restored.
/// @param work returns the child's exit code.
/// @param max_crashes after that many, no other child is started.
/// @param log gets the lines about crashes.
/// @return the exit code of the child that exited; 128 + S if signal S ended it after this process
///         was asked to stop; 1 after too many crashes.
/// @throws std::system_error if no process can be made.
auto Supervise(const std::function<int()>& work, std::size_t max_crashes, std::ostream& log) -> int;

}  // namespace TURTLE_SERVER
