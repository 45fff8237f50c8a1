// A file without a name.
//
// Other processes can't open it, and it is removed when its last descriptor is closed, however the
// program ends, so half uploads never fill up the disk. Once complete, it can get a name, together
// with all its content, if the kernel has O_TMPFILE.
//
// Interface:
//  * OpenNameless() makes one; GiveName() gives it a name, or copies it there.
//
// Thread: any. Both wait for the disk.
#pragma once

#include <string>

#include "base/unique_fd.h"

namespace TURTLE_SERVER {

/// Makes an empty file on the file system of `folder`, open for reading and writing. Only its owner
/// may read and write it (mode 0600).
/// @return an owned descriptor, or an empty one and errno
[[nodiscard]] auto OpenNameless(const std::string& folder) -> UniqueFd;

/// Does the same without O_TMPFILE (open(2)): under a name that is hard to guess and removed at
/// once. OpenNameless() falls back to it. Same parameter, same result.
[[nodiscard]] auto OpenNamelessByUnlink(const std::string& folder) -> UniqueFd;

/// Makes a nameless file the new file `path` of mode 0600. A file from OpenNameless() is not copied
/// if `path` is on the same file system.
/// @param fd a file without a name, open for reading; its position is not used. Bytes that are
///     written to it afterwards may or may not be in the new file.
/// @param path chosen by the server, never by a client. An existing file is not replaced, not even
///     a link. On failure no part of the file is left there.
/// @return 0 or an errno value (EEXIST)
[[nodiscard]] auto GiveName(int fd, const std::string& path) noexcept -> int;

}  // namespace TURTLE_SERVER
