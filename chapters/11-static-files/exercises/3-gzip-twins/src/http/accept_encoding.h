// The codings that a client accepts (RFC 9110, section 12.5.3).
//
// Thread: a pure function.
#pragma once

#include <string_view>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Returns true if a client with this Accept-Encoding accepts gzip: `gzip` has a weight above 0, or
/// is missing while `*` has one. An invalid weight counts as 0.
/// @param value of the field, such as "br;q=1.0, gzip;q=0.8, *;q=0.1"; "" if there is none
[[nodiscard]] auto AcceptsGzip(std::string_view value) -> bool;

}  // namespace TURTLE_SERVER
