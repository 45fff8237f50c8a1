// The Content-Type of a file by its name (RFC 9110, section 8.3).
//
// Thread: a pure function.
#pragma once

#include <string_view>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// The media type for a file, by the extension of its name in any case, with the character set
/// where a browser would guess otherwise: Turtle's text is UTF-8.
/// @param path a name or a path; only what follows the last slash counts
/// @return such as "text/html; charset=utf-8"; "application/octet-stream" for an unknown or no
///     extension, and ".html" has none. A literal: valid for ever.
[[nodiscard]] auto MimeType(std::string_view path) noexcept -> std::string_view;

}  // namespace TURTLE_SERVER
