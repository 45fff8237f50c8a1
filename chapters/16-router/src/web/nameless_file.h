// A file that has no name yet.
//
// Other processes can't open it, and it goes when its last descriptor is closed, however the
// program ends: a disk doesn't fill up with what half an upload has left behind. When it is whole
// it can be given a name, at once and with all its content, where the kernel has O_TMPFILE.
//
// Interface:
//  * OpenNameless() makes one, GiveName() gives it its name, or copies it to there.
//
// Thread: any. Both wait for the disk.
#pragma once

#include <string>

#include "base/unique_fd.h"

namespace TURTLE_SERVER {

/// Makes an empty file in `folder`, on whose file system it lies; open for reading and writing.
/// Its owner alone may read and write it (mode 0600).
/// @return an owned descriptor, or an empty one and errno
[[nodiscard]] auto OpenNameless(const std::string& folder) -> UniqueFd;

/// The way without O_TMPFILE (open(2)): under a name that nobody could guess, which it loses at
/// once. OpenNameless() falls back to it. Same parameter, same result.
[[nodiscard]] auto OpenNamelessByUnlink(const std::string& folder) -> UniqueFd;

/// Makes a nameless file, or its content, the new file `path` of mode 0600. From OpenNameless()
/// that costs no copy, if `path` lies on the same file system.
/// @param fd a file without a name, open for reading; its position is not used. What is written to
///     it afterwards is in the new file, too, or not.
/// @param path chosen by the server, never by a client; what is there already is not replaced, be
///     it only a link. When this fails no part of the file is left there.
/// @return 0 or an errno value (EEXIST)
[[nodiscard]] auto GiveName(int fd, const std::string& path) noexcept -> int;

}  // namespace TURTLE_SERVER
