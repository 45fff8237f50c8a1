// Turns bytes into a Request: HTTP/1.0 and HTTP/1.1 heads, RFC 9110 and 9112.
//
// Incremental: bytes come as the network delivers them, and the parser says whether the head is
// complete. Pure: no system call, no clock, no allocation once the Request has warmed up. Strict: a
// head that two readers could understand differently is refused, because the reader in front of us
// may be a proxy that understands it the other way (request smuggling).
//
// Interface:
//  * Parse() examines everything received so far and returns need more, done or bad.
//  * Reset() forgets a half-read head.
//
// Between two calls it remembers only how far it has read, not what it saw: a thousand slow clients
// cost sixteen bytes each, and one Request serves them all. A head in one piece is read once. A
// head in pieces is tried again when its end is there, or when its size has doubled: however it is
// cut, the work stays proportional to its length.
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
  kNeedMore,  ///< The beginning of a head: call again with more.
  kDone,      ///< A whole head; the Request is filled.
  kBad,       ///< No valid head, whatever follows: respond with `status` and close.
};

/// The verdict of HttpParser::Parse().
struct [[nodiscard]] ParseResult {
  ParseState state = ParseState::kNeedMore;  ///< One of the three.
  std::size_t head_bytes = 0;  ///< kDone: of the head and empty lines before it; the body follows.
  int status = 0;              ///< kBad: 400, 414, 431, 501 or 505.
  const char* reason = "";     ///< kBad: why, in a few words; valid forever.
};

/// The parser of one connection.
class HttpParser {
 public:
  /// Borrows `limits`, which must outlive the parser.
  explicit HttpParser(const ParserLimits& limits) : limits_(&limits) {}

  /// Parses the head at the beginning of `input`.
  /// @param input Everything received since the last head (and its body) ended: the bytes of the
  ///     previous call, and more. It may be at another address, and may extend beyond the head.
  /// @param out Filled when the result is kDone, with views into `input`. After kBad only its
  ///     method has a meaning: as read, or kOther if the fault came before. It need not be the
  ///     same object from call to call.
  /// @return The verdict; after kDone and kBad the parser is like new. A fault in a head that comes
  ///     in pieces may be reported with a later piece, at the latest with the head's last byte.
  auto Parse(std::string_view input, Request& out) -> ParseResult;

  /// Makes it like new: the next input is the beginning of another head.
  void Reset() {
    seen_ = 0;
    next_try_ = 0;
  }

 private:
  auto IsWorthATry(std::string_view input) -> bool;

  const ParserLimits* limits_;
  std::uint32_t seen_ = 0;      // bytes examined so far: no head ends in them
  std::uint32_t next_try_ = 0;  // with this many bytes the head is tried even without its end
};

static_assert(sizeof(HttpParser) <= 16, "every idle connection has one");

}  // namespace TURTLE_SERVER
