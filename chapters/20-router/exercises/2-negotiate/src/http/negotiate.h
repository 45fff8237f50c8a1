// Chooses a media type that the client accepts: the Accept field (RFC 9110, section 12.5.1).
//
// Thread: pure function.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "http/headers.h"

namespace TURTLE_SERVER {

/// Chooses one of several media types.
///
/// Several Accept fields count as if they were joined. Each of their elements is a media range with
/// a quality from 0 to 1. The most specific one that fits an offer counts: "text/html" before
/// "text/*" before "*/*"; of equals, the one with the highest quality. A range with parameters
/// other than q fits no offer. A malformed element is ignored.
///
/// @param fields of the request
/// @param offers types without parameters, such as "text/html", in any case; the best comes first
/// @return the index of the offer with the highest quality, the first of equals; nullopt if there
///     is none above 0. Without a well-formed element, 0: any type is accepted.
[[nodiscard]] auto Negotiate(const Headers& fields, const std::vector<std::string_view>& offers)
    -> std::optional<std::size_t>;

}  // namespace TURTLE_SERVER
