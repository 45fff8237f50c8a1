// Opens a file that a client has named, and none outside the directory that it may name files in.
//
// Checking the path's text is not enough: a symbolic link may lead out, and between a check and
// the open(2) somebody may put one there. So the kernel is asked to open the path in such a way
// that no step of it leaves the directory, openat2(2) with RESOLVE_BENEATH.
//
// That refuses links that end inside but pass through the outside, such as one with an absolute
// path. For those, and where the kernel has no such call, the links are read here, and the
// resulting path is opened segment by segment, following none. Reading them only proposes a path:
// changing a link meanwhile gains an attacker nothing.
//
// Thread: any.
#pragma once

#include <string>

#include "base/unique_fd.h"

namespace TURTLE_SERVER {

/// Opens `path` for reading, non-blocking (a pipe in the directory can't hang the loop). Links are
/// followed, absolute ones too, if their destination is in the directory.
/// @param folder an open directory
/// @param path relative to it: no slash at its front; "" or "." is the directory itself
/// @return an owned descriptor, or an empty one and errno; EXDEV: the path leads out
[[nodiscard]] auto OpenBeneath(int folder, const std::string& path) noexcept -> UniqueFd;

/// The way without openat2(2). OpenBeneath() falls back to it. Same parameters, same result; it
/// refuses `..` in `path`.
[[nodiscard]] auto OpenBeneathBySegments(int folder, const std::string& path) noexcept -> UniqueFd;

/// Opens a directory only to go through it: this needs the right to search it, but not to list it.
/// Links are followed.
/// @return an owned descriptor for openat(2), fstat(2) and fchdir(2), or an empty one and errno
[[nodiscard]] auto OpenFolder(const std::string& path) noexcept -> UniqueFd;

/// Returns true if `path` is a directory that this process may search; it need not be readable.
/// @param folder an open directory
/// @param path as of OpenBeneath()
[[nodiscard]] auto IsFolderBeneath(int folder, const std::string& path) noexcept -> bool;

}  // namespace TURTLE_SERVER
