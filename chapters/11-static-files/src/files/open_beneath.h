// Opens a file named by a client, but none outside the directory that it may use.
//
// Checking the path's text is not enough. A symbolic link may lead out, and an attacker may create
// one between a check and the open(2). So the kernel opens the path such that no step leaves the
// directory: openat2(2) with RESOLVE_BENEATH.
//
// That also refuses links that end inside but pass through the outside, such as absolute ones. For
// those, and where the kernel lacks the call, the links are read here. The resulting path is opened
// segment by segment, following no link. The reading only proposes a path, so changing a link
// meanwhile gains an attacker nothing.
//
// Thread: any.
#pragma once

#include <string>

#include "base/unique_fd.h"

namespace TURTLE_SERVER {

/// Opens `path` for reading, non-blocking (a pipe in the directory can't hang the loop). Links are
/// followed, even absolute ones, if their target is in the directory.
/// @param folder an open directory
/// @param path relative to it: no leading slash; "" or "." is the directory itself
/// @return an owned descriptor, or an empty one and errno; EXDEV: the path leads out
[[nodiscard]] auto OpenBeneath(int folder, const std::string& path) noexcept -> UniqueFd;

/// Does the same without openat2(2); OpenBeneath() falls back to it. Same parameters, same result,
/// but `..` in `path` is refused.
[[nodiscard]] auto OpenBeneathBySegments(int folder, const std::string& path) noexcept -> UniqueFd;

/// Opens a directory only to pass through it: this requires permission to search it, but not to
/// list it. Links are followed.
/// @return an owned descriptor for openat(2), fstat(2) and fchdir(2), or an empty one and errno
[[nodiscard]] auto OpenFolder(const std::string& path) noexcept -> UniqueFd;

/// Returns true if `path` is a directory that this process may search; it need not be readable.
/// @param folder an open directory
/// @param path as for OpenBeneath()
[[nodiscard]] auto IsFolderBeneath(int folder, const std::string& path) noexcept -> bool;

}  // namespace TURTLE_SERVER
