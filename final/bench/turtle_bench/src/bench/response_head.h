// Parses the head of a server's response, as far as a load generator needs it. Did it work, where
// does the body end, and may the connection be used again (RFC 9112, sections 4 and 6)?
//
// Interface:
//  * ParseResponseHead() parses a complete head.
//
// Strict where two readers could find different ends of the body: a server that sends such a head
// has an error, and a load generator is there to find it.
//
// Thread: pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// The mark of a body's end.
enum class BodyEnd : std::uint8_t {
  kNone,     ///< there is no body: a response to HEAD, or 1xx, 204, 304
  kLength,   ///< Content-Length
  kChunked,  ///< the last chunk
  kToEnd,    ///< the end of the connection
};

/// The parts of a head that a load generator needs.
struct ResponseHead {
  int status = 0;                ///< 100 to 599
  BodyEnd end = BodyEnd::kNone;  ///< where the body ends
  std::uint64_t length = 0;      ///< Content-Length, 0 without it; also of a response to HEAD
  bool keep_alive = false;       ///< the connection can take another request
};

/// Parses a head.
/// @param head from the status line to the empty line, including its CR LF CR LF
/// @param to_head the request was HEAD: there is no body, whatever the fields say
/// @param out filled if the head is valid
/// @return nullptr, or the fault; a literal
[[nodiscard]] auto ParseResponseHead(std::string_view head, bool to_head, ResponseHead& out)
    -> const char*;

}  // namespace TURTLE_SERVER
