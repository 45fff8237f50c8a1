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

/// Makes an empty file on the file system of `folder`; open for reading and writing. Its owner
/// alone may read and write it (mode 0600).
/// @return an owned descriptor, or an empty one and errno
[[nodiscard]] auto OpenNameless(const std::string& folder) -> UniqueFd;

/// The way without O_TMPFILE (open(2)): under a name that nobody could guess, which it loses at
/// once. OpenNameless() falls back to it. Same parameter, same result.
[[nodiscard]] auto OpenNamelessByUnlink(const std::string& folder) -> UniqueFd;

/// Makes a nameless file, or its content, the new file `path` of mode 0600. From OpenNameless()
/// that costs no copy, if `path` is on the same file system.
/// @param fd a file without a name, open for reading; its position is not used. Bytes that are
///     written to it afterwards may or may not be in the new file.
/// @param path chosen by the server, never by a client; an existing file is not replaced, not even
///     a link. When this fails no part of the file is left there.
/// @return 0 or an errno value (EEXIST)
[[nodiscard]] auto GiveName(int fd, const std::string& path) noexcept -> int;

}  // namespace TURTLE_SERVER
