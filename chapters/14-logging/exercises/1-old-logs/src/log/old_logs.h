// The files that a LogFile has rolled, and an end to them.
//
// Thread: any; several at once, too, and other processes.
#pragma once

#include <cstddef>
#include <string>

namespace TURTLE_SERVER {

/// Removes the oldest files that the LogFile of `path` has rolled, so that the newest `keep` are
/// left. How old one is, its name says. Nothing else is touched. What can't be removed stays; what
/// somebody else has removed is no concern of ours.
///
/// @param path as the LogFile has it
/// @param keep so many are left; 0: none
/// @return how many were removed
auto RemoveOldLogs(const std::string& path, std::size_t keep) -> std::size_t;

}  // namespace TURTLE_SERVER
