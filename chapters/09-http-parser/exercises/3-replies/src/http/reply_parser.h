// Parses the head of a response: for clients, and for servers that are clients of others.
//
// Pure: it makes no system call, reads no clock, and has no memory of its own.
//
// Thread: a pure function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "http/headers.h"
#include "http/http_parser.h"
#include "http/method.h"
#include "http/parser_limits.h"

namespace TURTLE_SERVER {

/// How the end of a response's body is found (RFC 9112, section 6.3).
enum class ReplyBody : std::uint8_t {
  kNone,     ///< there is no body: the next byte belongs to the next response
  kLength,   ///< given in bytes; may be 0
  kChunked,  ///< the last chunk
  kClose,    ///< the end of the connection: nothing can follow on it
  kTunnel,   ///< the following bytes are no longer HTTP
};

/// The head of a response. Its texts are views of the bytes that were parsed.
struct Reply {
  int status = 0;           ///< 100 to 599
  std::string_view reason;  ///< as sent; may be ""
  int minor_version = 1;    ///< 0, or 1 for HTTP/1.1 and every later minor version
  Headers headers;          ///< all fields, in their order
  ReplyBody body = ReplyBody::kNone;
  std::uint64_t length = 0;  ///< of the body, with kLength
  bool keep_alive = true;    ///< another request may be sent on the connection, afterwards
};

/// The result of ParseReply().
struct [[nodiscard]] ReplyResult {
  ParseState state = ParseState::kNeedMore;  ///< which of the three
  std::size_t head_bytes = 0;                ///< kDone: the size of the head
};

/// Parses the head at the beginning of `input`.
/// @param input everything received that belongs to no earlier response
/// @param method of the request
/// @param limits max_head_bytes and max_fields
/// @param out filled if the result is kDone; otherwise unspecified. If it is used again, it keeps
///     its memory.
auto ParseReply(std::string_view input, Method method, const ParserLimits& limits, Reply& out)
    -> ReplyResult;

}  // namespace TURTLE_SERVER
