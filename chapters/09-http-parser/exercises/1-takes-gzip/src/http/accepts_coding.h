// May a response be compressed? Reads Accept-Encoding (RFC 9110, section 12.5.3).
//
// Thread: a pure function.
#pragma once

#include <string_view>

#include "http/headers.h"

namespace TURTLE_SERVER {

/// Does the client take a content coding?
/// @param fields of the request
/// @param coding such as "gzip", in lower case; not "identity"
/// @return false as well when the client doesn't say, or says it in a way that is no
///     Accept-Encoding: uncompressed is always right
[[nodiscard]] auto AcceptsCoding(const Headers& fields, std::string_view coding) -> bool;

}  // namespace TURTLE_SERVER
