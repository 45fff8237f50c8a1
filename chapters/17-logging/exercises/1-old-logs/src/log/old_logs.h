// Removes old files that a LogFile has rolled.
//
// Thread: any; several at once, and even several processes.
#pragma once

#include <cstddef>
#include <string>

namespace TURTLE_SERVER {

/// Removes the oldest files that the LogFile of `path` has rolled, and leaves the newest `keep`. A
/// file's age is determined by its name. Nothing else is touched. A file that can't be removed
/// stays; one removed by another process does not matter.
///
/// @param path as for the LogFile
/// @param keep how many are left; 0: none
/// @return how many were removed
auto RemoveOldLogs(const std::string& path, std::size_t keep) -> std::size_t;

}  // namespace TURTLE_SERVER
