// The files that a LogFile has rolled, and an end to them.
//
// Thread: any; several at once, too, and other processes.
#pragma once

#include <cstddef>
#include <string>

namespace TURTLE_SERVER {

/// Removes the oldest files that the LogFile of `path` has rolled, so that the newest `keep` are
/// left. The name of a file says how old it is. Nothing else is touched. A file that can't be
/// removed stays; a file that another process has removed does not matter.
///
/// @param path as the LogFile has it
/// @param keep so many are left; 0: none
/// @return how many were removed
auto RemoveOldLogs(const std::string& path, std::size_t keep) -> std::size_t;

}  // namespace TURTLE_SERVER
