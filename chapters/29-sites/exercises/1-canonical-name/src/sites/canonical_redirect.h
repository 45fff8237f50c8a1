// Sends the clients of all other names of a site to the one that it should be known by.
//
// A site with the names "example.org" and "www.example.org" has each page twice: search engines
// count two pages, and caches keep two. A handler of such a site begins with:
//
//   if (const auto redirect = CanonicalRedirect(exchange.GetRequest(), "example.org", "https")) {
//     exchange.Reply(*redirect);
//     return;
//   }
//
// Interface:
//  * CanonicalRedirect() returns the redirect that a request needs.
//
// Thread: a pure function.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "http/request.h"
#include "http/response.h"

namespace TURTLE_SERVER {

/// Redirects a request for any other name of a site.
///
/// The target is an absolute URI without a port: the scheme, the name, the request's path and its
/// query. The path is encoded again (http/encode_path.h); the query is as the client has sent it,
/// and an empty one keeps its question mark.
///
/// @param request of any method, parsed
/// @param name of the site: HostTable::IsName(), so in lower case, but no pattern
/// @param scheme "http" or "https"
/// @return a response 308 with a Location; or nullopt in three cases. The request names the host
///     `name`: in any case, with or without a port and a dot at its end. It names no host, and
///     would name none the next time. Its target has no path: "*", and "host:port" of CONNECT.
[[nodiscard]] auto CanonicalRedirect(const Request& request, const std::string& name,
                                     std::string_view scheme) -> std::optional<Response>;

}  // namespace TURTLE_SERVER
