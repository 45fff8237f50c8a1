// Sends the clients of a plain port to the one with TLS.
//
// A port that only redirects has a handler for everything:
//
//   HttpServer plain(NetAddress("0.0.0.0", 80));
//   plain.Files("/.well-known/acme-challenge", "/var/lib/acme");
//   plain.Mount("/", HttpsRedirect(443));
//
// A server that listens on both ports wraps the handler of its site. That includes the checks of
// passwords, Sites::Around(), or else a client would be asked for one in the clear:
//
//   HttpServer both(NetAddress("0.0.0.0", 80));
//   both.Mount("/", HttpsOnly(site, 443));
//
// An authority that checks who owns a name asks for its challenge on port 80 (RFC 8555, section
// 8.3). HttpsOnly() lets these requests through. HttpsRedirect() does not: the handler of the
// challenges has its own mount, and the longest prefix wins.
//
// Interface:
//  * HttpsRedirect() makes handlers that redirect every request.
//  * HttpsOnly() makes handlers that redirect what has come without TLS.
//
// Thread: any; each loop has its own handler.
// Source: RFC 9110, sections 7.2 and 15.4.9
#pragma once

#include <cstdint>

#include "web/request_handler.h"

namespace TURTLE_SERVER {

/// Makes handlers that redirect every request, whatever its method is: a 308 with a Location.
///
/// The Location is "https://", the host that the client has asked for, the port, the whole path,
/// even under a mount such as "/blog", and the query.
///
/// The host is Request::host as it was sent, without its port and the colon before that. Port 443
/// is left out of the Location; any other follows the host. The path is encoded again
/// (http/encode_path.h); the query is as the client has sent it, and an empty one keeps its
/// question mark.
///
/// The parser accepts more hosts than exist, such as "a%0d%0ab", "a;b" and "[v1.a]"
/// (IsValidHost()), and clients disagree about their meaning. So a host is either an IPv6 address
/// in brackets, which consists of hexadecimal digits, colons and dots, or it consists of letters,
/// digits, dots, hyphens and underscores. A request with any other host, or with none, gets a 400
/// and no Location.
///
/// @param https_port where TLS is spoken
/// @throws std::invalid_argument "https redirect: port 0" for that port
[[nodiscard]] auto HttpsRedirect(std::uint16_t https_port) -> HandlerFactory;

/// Makes handlers that pass on what may come as it has come, and redirect all else as
/// HttpsRedirect() does. These requests are passed on:
///
/// - those that are secure, Exchange::IsSecure();
/// - those for a path below "/.well-known/acme-challenge/", even under a mount;
/// - those whose connection is a Unix socket. It has crossed no network, and the proxy at its other
///   end has the TLS. That counts even if a PROXY header names a client, and whatever the fields of
///   the request say.
///
/// A path that a handler reaches by Exchange::ReplyFrom() is checked like any other. Routes and
/// other mounts of the server are not wrapped.
///
/// @param inner makes the wrapped handlers, one for each loop; not empty, and returns no nullptr
/// @param https_port as above
/// @throws std::invalid_argument as above
[[nodiscard]] auto HttpsOnly(HandlerFactory inner, std::uint16_t https_port) -> HandlerFactory;

}  // namespace TURTLE_SERVER
