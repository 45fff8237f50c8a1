// Percent-encodes paths, as for a Location or a link.
//
// Interface:
//  * EncodePath() encodes a path for a URI.
//
// Thread: a pure function.
#pragma once

#include <string>
#include <string_view>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Encodes a path for a URI (RFC 3986, section 3.3). Slashes and all characters that a segment may
/// have stay; any other byte becomes "%XX", even a '%'. Decoding the result gives `path` again.
/// The result is safe in a header field, but not yet in HTML: it may contain '&' and '\''. A
/// relative path whose first segment has a colon looks like a scheme: put "./" before it.
/// @param path decoded; any bytes, in any encoding
[[nodiscard]] auto EncodePath(std::string_view path) -> std::string;

}  // namespace TURTLE_SERVER
