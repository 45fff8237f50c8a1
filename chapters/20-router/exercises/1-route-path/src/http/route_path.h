// Turns a route back into a path, for a link on a page or in a Location field.
//
// Thread: pure function.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace TURTLE_SERVER {

/// Parameters and their values, decoded.
using RouteValues = std::map<std::string, std::string, std::less<>>;

/// Returns the path of `pattern` with these values, encoded as in a request. A request for it
/// reaches the route with the same values, unless a more precise route has the path.
///
/// @param pattern checked as by ParseRoutePattern()
/// @param values one for each parameter
/// @throws std::invalid_argument "no value for id", "id is no parameter", and "the value of id does
///     not fit" if no request can bring it
[[nodiscard]] auto PathOf(std::string_view pattern, const RouteValues& values) -> std::string;

}  // namespace TURTLE_SERVER
