// Parses the URL of the requested page: "http://127.0.0.1:20080/index.html".
//
// Interface:
//  * ParseUrl() splits it, and refuses anything that turtle-bench would interpret differently.
//
// Thread: pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// The parts of an http or https URL (RFC 9110, sections 4.2.1 and 4.2.2).
struct Url {
  std::string host;         ///< a name or an address, an IPv6 address without its brackets
  std::uint16_t port = 80;  ///< 80 if none is given, 443 for https
  std::string target;       ///< for the request line: path and query, at least "/"
  std::string authority;    ///< for the field Host: "[::1]:20080", without the scheme's own port
  bool secure = false;      ///< the scheme is https
};

/// Splits a URL. Nothing is decoded: the target is sent unchanged.
/// @param text "http://HOST[:PORT][/PATH][?QUERY]", or https
/// @throws std::invalid_argument, whose text names the mistake: another scheme, a user,
///     a fragment, a bad port, a space.
[[nodiscard]] auto ParseUrl(std::string_view text) -> Url;

}  // namespace TURTLE_SERVER
