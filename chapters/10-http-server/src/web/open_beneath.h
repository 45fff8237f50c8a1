// Opens a file that a client has named, and none outside the folder that it may name files in.
//
// Checking the path's text is not enough: a symbolic link may lead out, and between a check and
// the open(2) somebody may put one there. So the kernel is asked to open the path in such a way
// that no step of it leaves the folder, openat2(2) with RESOLVE_BENEATH: links within the folder
// work, others fail. Where the kernel has no such call, each segment is opened by itself and no
// symbolic link is followed at all.
//
// Thread: any.
#pragma once

#include <string>

#include "base/unique_fd.h"

namespace TURTLE_SERVER {

/// Opens `path` for reading, non-blocking (a pipe in the folder can't hang the loop).
/// @param folder an open directory
/// @param path relative to it: no slash at its front; "" or "." is the folder itself
/// @return an owned descriptor, or an empty one and errno; EXDEV: the path leads out
[[nodiscard]] auto OpenBeneath(int folder, const std::string& path) noexcept -> UniqueFd;

/// The way without openat2(2): segment by segment, following no symbolic link. OpenBeneath() falls
/// back to it. Same parameters, same result.
[[nodiscard]] auto OpenBeneathBySegments(int folder, const std::string& path) noexcept -> UniqueFd;

}  // namespace TURTLE_SERVER
