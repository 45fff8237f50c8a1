// Shows the content of a directory as a page.
//
// Thread: any.
#pragma once

#include <cstddef>
#include <string_view>

#include "http/response.h"

namespace TURTLE_SERVER {

/// The most entries in a listing.
inline constexpr std::size_t kMaxEntries = 1000;

/// Returns a page with a link to everything in a directory.
///
/// Throws std::system_error if the directory can't be read.
/// @param folder an open directory, borrowed: it can be listed again
/// @param path its path as the client knows it, decoded; shown on the page
[[nodiscard]] auto FolderPage(int folder, std::string_view path) -> Response;

}  // namespace TURTLE_SERVER
