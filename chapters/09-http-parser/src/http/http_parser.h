// Turns bytes into a Request: HTTP/1.0 and HTTP/1.1 heads, RFC 9110 and 9112.
//
// Incremental: bytes come as the network delivers them, and the parser says whether they are a
// whole head yet. Pure: no system call, no clock, no allocation once the Request has warmed up.
// Strict: a head that two readers could understand differently is refused, because the reader in
// front of us may be a proxy that understands the other thing (request smuggling).
//
// Interface:
//  * Parse() looks at everything received so far and says need more, done or bad.
//  * Reset() forgets a half-read head.
//
// Between two calls it remembers only how far it has looked, not what it saw: so a thousand slow
// clients cost sixteen bytes each, and one Request serves them all. A head in one piece is read
// once. A head in pieces is tried again when its end is there, or when it has doubled: however it
// is cut, the work stays proportional to its length.
//
// Thread: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "http/parser_limits.h"
#include "http/request.h"

namespace TURTLE_SERVER {

/// The state after the bytes so far.
enum class ParseState : std::uint8_t {
  kNeedMore,  ///< The beginning of a head: come back with more.
  kDone,      ///< A whole head; the Request is filled.
  kBad,       ///< No valid head, whatever may follow: answer `status` and close.
};

/// The verdict of HttpParser::Parse().
struct [[nodiscard]] ParseResult {
  ParseState state = ParseState::kNeedMore;  ///< Which of the three.
  std::size_t head_bytes = 0;                ///< kDone: the size of the head; after it, the body.
  int status = 0;                            ///< kBad: 400, 414, 431, 501 or 505.
  const char* reason = "";                   ///< kBad: why, in a few words; lives for ever.
};

/// The parser of one connection.
class HttpParser {
 public:
  /// Borrows `limits`, which has to live as long as the parser.
  explicit HttpParser(const ParserLimits& limits) : limits_(&limits) {}

  /// Parses the head at the beginning of `input`.
  /// @param input Everything received since the last head (and its body) ended: what was passed
  ///     before, and more. It may be at another address than before, and may run on past the head.
  /// @param out Filled when the result is kDone, with views into `input`; otherwise unspecified.
  ///     It needs not be the same object from call to call.
  /// @return The verdict; after kDone and kBad the parser is as new. A fault in a head that comes
  ///     in pieces may be reported with a later piece, with the head's last byte at the latest.
  auto Parse(std::string_view input, Request& out) -> ParseResult;

  /// Makes it as new: the next input is the beginning of another head.
  void Reset() {
    seen_ = 0;
    next_try_ = 0;
  }

 private:
  auto IsWorthATry(std::string_view input) -> bool;

  const ParserLimits* limits_;
  std::uint32_t seen_ = 0;      // so many bytes were looked at: no head ends in them
  std::uint32_t next_try_ = 0;  // with so many bytes the head is tried even without its end
};

static_assert(sizeof(HttpParser) <= 16, "every idle connection has one");

}  // namespace TURTLE_SERVER
