// Collects a small request body for a handler.
//
// Thread: the loop's.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace TURTLE_SERVER {

class Exchange;

/// Collects the request's body, and calls `then` when it is complete; used in place of OnBody().
///
/// A body of more than `limit` bytes gives a 413, as soon as that is known.
/// @param exchange without a response
/// @param limit the most bytes of the body, besides the server's own limit
/// @param then responds. Called once, but never during this call; not at all without a complete
///     body. It may throw, as RequestHandler::Handle() may
void TakeWhole(Exchange& exchange, std::size_t limit, std::function<void(std::string body)> then);

}  // namespace TURTLE_SERVER
