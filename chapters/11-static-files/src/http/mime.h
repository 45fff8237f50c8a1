// Maps a file's name to its Content-Type (RFC 9110, section 8.3).
//
// Thread: a pure function.
#pragma once

#include <string_view>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Returns the media type of a file by the extension of its name, in any case. It includes the
/// character set if a browser would guess otherwise: Turtle's text is UTF-8.
/// @param path a name or a path; only what follows the last slash counts
/// @return such as "text/html; charset=utf-8"; "application/octet-stream" for an unknown extension
///     or none, and ".html" has none. A literal: valid forever.
[[nodiscard]] auto MimeType(std::string_view path) noexcept -> std::string_view;

}  // namespace TURTLE_SERVER
