// Decides whether a response may be compressed, by Accept-Encoding (RFC 9110, section 12.5.3).
//
// Thread: a pure function.
#pragma once

#include <string_view>

#include "http/headers.h"

namespace TURTLE_SERVER {

/// Returns true if the client accepts a content coding.
/// @param fields of the request
/// @param coding such as "gzip", in lower case; not "identity"
/// @return false if Accept-Encoding is missing or malformed, too: uncompressed is always
///     right
[[nodiscard]] auto AcceptsCoding(const Headers& fields, std::string_view coding) -> bool;

}  // namespace TURTLE_SERVER
