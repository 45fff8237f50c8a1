// Sends files as a tar archive, in POSIX's ustar format (pax(1)), made on the fly.
//
// Thread: the loop's.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "http/response.h"

namespace TURTLE_SERVER {

/// The most files of one archive: each of them needs a descriptor.
inline constexpr std::size_t kMaxArchivedFiles = 64;

/// Makes a response of an archive, without reading the files.
/// @param directory an open directory, borrowed
/// @param names beneath it; those that are not regular files there are left out
/// @return 200 with application/x-tar; 400 for more than kMaxArchivedFiles names; 500 if a name or
///     a size does not fit into the format
[[nodiscard]] auto TarResponse(int directory, const std::vector<std::string>& names) -> Response;

}  // namespace TURTLE_SERVER
