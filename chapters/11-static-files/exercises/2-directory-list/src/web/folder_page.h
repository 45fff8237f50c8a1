// The content of a directory, as a page.
//
// Thread: any.
#pragma once

#include <cstddef>
#include <string_view>

#include "http/response.h"

namespace TURTLE_SERVER {

/// The most entries of a directory that are listed.
inline constexpr std::size_t kMaxEntries = 1000;

/// A page with a link to everything in a directory.
///
/// Throws std::system_error when the directory can't be read.
/// @param folder an open directory, borrowed: it can be listed again
/// @param path its path as the client knows it, decoded: shown in the page
[[nodiscard]] auto FolderPage(int folder, std::string_view path) -> Response;

}  // namespace TURTLE_SERVER
