// Patterns of origins: "https://*.example.org" stands for all pages below example.org.
//
//   WebSocketOptions options;
//   options.origins = {"https://example.org", "https://*.example.org"};
//
// Browsers send cookies along with a handshake, whichever page asks for it. A pattern that matches
// too much lets a stranger's page act in its visitor's name. The stranger chooses the page's name,
// and may own evilexample.org, or a server for all names below example.org.evil.test.
//
// An origin has a scheme, a host and perhaps a port, and nothing else:
//
//     https://www.example.org:8443
//
// Interface:
//  * MatchesOrigin() compares an origin with a pattern.
//
// Thread: a pure function; nothing is allocated.
// Source: RFC 6454, section 6.2; RFC 6455, section 10.2.
#pragma once

#include <string_view>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Returns true if `origin` matches `pattern`.
///
/// A pattern is special if "*." comes right after its first "://". The star then stands for one or
/// more labels with dots between them. A label is one or more letters, digits, '-' and '_'. The
/// text before the star and after it has to be the same in the origin: scheme, domain and port.
///
/// Any other pattern has to be the same as the origin. Letters are compared without their case.
///
/// IsAllowedOrigin() calls it for each text in its list, except for "*", which still means any
/// origin.
///
/// @param pattern of the server's owner
/// @param origin any bytes that a client sends
[[nodiscard]] auto MatchesOrigin(std::string_view pattern, std::string_view origin) noexcept
    -> bool;

}  // namespace TURTLE_SERVER
