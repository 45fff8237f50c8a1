// From a route back to a path: what a page or a Location field links to.
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

/// The path that `pattern` has with these values, encoded as a request sends it. A request for it
/// gets the route, unless a more precise one has the path, with the same values.
///
/// @param pattern as ParseRoutePattern() wants it, which says so if it is none
/// @param values one for each parameter
/// @throws std::invalid_argument "no value for id", "id is no parameter", and "the value of id does
///     not fit" if no request can bring it
[[nodiscard]] auto PathOf(std::string_view pattern, const RouteValues& values) -> std::string;

}  // namespace TURTLE_SERVER
