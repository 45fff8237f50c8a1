// One request's head, as the parser leaves it: a plain value whose texts are views.
//
// The views refer to the parsed bytes, and die with them: for a handler that responds before it
// returns, that is long enough. A handler that responds later calls Detach() first.
//
// Thread: one thread at a time; a detached Request may be moved to another.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

#include "http/headers.h"
#include "http/method.h"
#include "http/uri.h"

namespace TURTLE_SERVER {

/// How the end of the request's body is found (RFC 9112, section 6.3).
enum class BodyKind : std::uint8_t {
  kNone,     ///< There is no body: the next byte belongs to the next request.
  kLength,   ///< Content-Length; may be 0.
  kChunked,  ///< Transfer-Encoding: chunked.
};

/// The framing of the request's body.
struct Framing {
  BodyKind kind = BodyKind::kNone;  ///< How the end is found.
  std::uint64_t length = 0;         ///< For BodyKind::kLength: in bytes, fits into an off_t.

  /// True if bytes of a body follow the head (with chunks at least the last one).
  [[nodiscard]] auto HasBody() const -> bool { return kind == BodyKind::kChunked || length != 0; }
};

/// The client's expectation before it sends its body (RFC 9110, section 10.1.1).
enum class Expectation : std::uint8_t {
  kNone,      ///< None; also for any HTTP/1.0 client.
  kContinue,  ///< "100-continue".
  kUnknown,   ///< Another one: respond with 417.
};

/// The head of one request.
struct Request {
  Method method = Method::kOther;  ///< The requested action.
  std::string_view method_text;    ///< As sent: the name of a Method::kOther.
  std::string_view target;         ///< As sent.
  Uri uri;                         ///< The target, parsed.
  int minor_version = 1;           ///< 0, or 1 for HTTP/1.1 and every later minor version.
  std::string_view host;           ///< From an absolute-form target, or else from Host; may be "".
  Headers headers;                 ///< All fields, in their order.
  Framing framing;                 ///< Where the body ends, unambiguously.
  bool keep_alive = true;  ///< By version and Connection: the client wants the connection kept.
  Expectation expectation = Expectation::kNone;  ///< From Expect.
  std::string_view head;  ///< All bytes of the head, from the request line to the empty line.

  /// Returns the request as a line for the log: "GET /path", a long path truncated, then `what`. It
  /// needs no memory: lack of memory may be the problem.
  [[nodiscard]] auto Title(const char* what) const noexcept -> std::array<char, 256>;

  /// Makes it an empty request and keeps the memory for the next one.
  void Clear();

  /// Copies the head into memory of this Request and makes every view refer to the copy, so that it
  /// outlives the parsed bytes. Moving the Request afterwards keeps the views valid (except a
  /// Path() taken before). Harmless when repeated.
  void Detach();

 private:
  std::unique_ptr<char[]> owned_;  // the head, once detached; a move keeps its bytes in place
};

}  // namespace TURTLE_SERVER
