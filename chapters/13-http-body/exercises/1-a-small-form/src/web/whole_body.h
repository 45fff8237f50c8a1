// A request's body in one piece, for a handler that wants no more than a little.
//
// Thread: the loop's.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace TURTLE_SERVER {

class Exchange;

/// Collects the request's body, and calls `then` when all of it is there; in place of OnBody().
///
/// A body of more than `limit` bytes is answered by 413, as soon as it is known to be one.
/// @param exchange that has not been answered
/// @param limit the most bytes that the body may have, beside the server's own limit
/// @param then answers. Called once and never in here, or not at all if there is no whole body. It
///     may throw, as RequestHandler::Handle()
void TakeWhole(Exchange& exchange, std::size_t limit, std::function<void(std::string body)> then);

}  // namespace TURTLE_SERVER
