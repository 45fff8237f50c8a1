// The header block with which a CGI program begins its output (RFC 3875, section 6).
//
// Interface:
//  * Parse() takes all output so far and returns: need more, done (and where the body starts), bad.
//  * CgiHeader holds what a program may send: a document, a local or client redirect, other fields.
//
// Nothing from the program is trusted: the size of the block and the number of fields are limited,
// and a field that could break the framing of our response never gets through. Programs that write
// the whole HTTP response themselves ("nph-") are not supported; their status line is a bad header.
//
// Thread: pure, one parser per response. No I/O.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// One header field that the program wants the client to see.
struct CgiField {
  std::string name;   ///< As the program spelled it.
  std::string value;  ///< Without surrounding white space; no control characters but tab.
};

/// The kind of the program's response (RFC 3875, 6.2).
enum class CgiReplyKind {
  kDocument,       ///< A response with the body that follows.
  kLocalRedirect,  ///< `Location: /path` and no status: the server answers with that path instead.
  kClientRedirect  ///< The client is sent to `location` (302 unless the program set a status).
};

/// A complete and valid header block.
struct CgiHeader {
  CgiReplyKind kind = CgiReplyKind::kDocument;  ///< The kind of response.
  int status = 200;                             ///< 200..599; 302 for a redirect without a status.
  std::string reason;                           ///< The program's reason phrase; it isn't sent.
  std::string location;      ///< A path with query, or an absolute URI; empty: none.
  std::string content_type;  ///< Empty: none (a response without a body).
  std::optional<std::uint64_t> content_length;  ///< As the program promised; nullopt: none.
  std::vector<CgiField> fields;  ///< All others, except those that belong to the connection.
};

/// How much header a program may send.
struct CgiHeaderLimits {
  std::size_t max_bytes = std::size_t{32} * 1024;  ///< The whole block with its empty line.
  std::size_t max_fields = 100;                    ///< Fields of every kind.
};

/// The state of Parse().
enum class CgiHeaderState {
  kNeedMore,  ///< Valid so far. If the output ends here, the header is incomplete: 502.
  kDone,      ///< Complete; the body starts at `head_bytes`.
  kBad        ///< Not a header block: 502, or plain text in the short form.
};

/// The result of Parse().
struct [[nodiscard]] CgiHeaderResult {
  CgiHeaderState state;    ///< Tells whether the other two members are valid.
  std::size_t head_bytes;  ///< kDone: bytes of the block with its empty line; otherwise 0.
  const char* reason;      ///< kBad: why, for the log, a literal; otherwise "".
};

/// Parses a CGI header block incrementally.
class CgiHeaderParser {
 public:
  /// Makes a parser for one response, with the given limits.
  explicit CgiHeaderParser(CgiHeaderLimits limits = {}) : limits_(limits) {}

  /// Examines the program's output. Each line is read once, when its end has arrived, so feeding
  /// byte by byte costs no more than feeding all at once. Lines end in LF or CRLF. After kDone or
  /// kBad the result stays the same until Reset().
  /// @param output everything that the program has written so far, from its first byte: the same
  ///        bytes as in the last call, and perhaps more after them.
  /// @param header a new one for each response, filled line by line; complete when the result is
  ///        kDone.
  /// @return the state; RFC 3875, 6.2 and 6.3.
  auto Parse(std::string_view output, CgiHeader& header) -> CgiHeaderResult;

  /// Gets ready for another response; a local redirect leads to one.
  void Reset();

 private:
  auto ReadLine(std::string_view line, CgiHeader& header) -> const char*;
  auto ReadStatus(std::string_view value, CgiHeader& header) -> const char*;
  auto ReadLength(std::string_view value, CgiHeader& header) -> const char*;
  auto Finish(CgiHeader& header) const -> const char*;
  auto Bad(const char* reason) -> CgiHeaderResult;

  CgiHeaderLimits limits_;
  CgiHeaderResult result_{CgiHeaderState::kNeedMore, 0, ""};
  std::size_t line_start_ = 0;  // everything before is parsed
  std::size_t scanned_ = 0;     // no line end between line_start_ and here
  std::size_t fields_ = 0;
  bool has_status_ = false;
  bool has_location_ = false;
  bool has_content_type_ = false;
};

}  // namespace TURTLE_SERVER
