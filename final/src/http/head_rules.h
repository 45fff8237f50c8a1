// The rules for a head once all its fields are known: Host, body framing, connection, expectation.
// The parser sees one line at a time; here the lines are compared with each other.
//
// Thread: a pure function of the request.
#pragma once

#include "http/head_fault.h"
#include "http/request.h"

namespace TURTLE_SERVER {

/// Checks the fields of `request` and sets its `host`, `framing`, `keep_alive` and `expectation`.
/// Method, URI, version and headers must be there.
/// @param request Parsed line by line; completed here.
/// @return No fault; 400 for a missing, repeated or invalid Host and for a body whose end is
///     ambiguous (RFC 9112, section 6.3); 501 for a transfer coding other than chunked.
auto ApplyHeadRules(Request& request) -> HeadFault;

}  // namespace TURTLE_SERVER
