// Sends several files as one body.
//
// Thread: the loop's.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "http/response.h"

namespace TURTLE_SERVER {

/// The most files that JoinFiles() joins: each of them needs a descriptor.
inline constexpr std::size_t kMaxJoinedFiles = 64;

/// Makes a response of the contents of several files, without reading them.
/// @param directory an open directory, borrowed
/// @param names beneath it, in the order in which they are sent
/// @return 200 with plain text; 404 if one of the names is not a regular file beneath the
///     directory; 400 for more than kMaxJoinedFiles names
[[nodiscard]] auto JoinFiles(int directory, const std::vector<std::string>& names) -> Response;

}  // namespace TURTLE_SERVER
