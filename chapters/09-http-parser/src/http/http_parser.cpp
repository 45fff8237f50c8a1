#include "http/http_parser.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/ascii.h"
#include "base/field_scan.h"
#include "http/head_rules.h"

namespace TURTLE_SERVER {

namespace {

// RFC 9112, section 2.2: old clients send an empty line after a body. One is usual.
constexpr int kMaxEmptyLines = 4;

// No method is nearly as long; a longer one is 501 (RFC 9112, section 3).
constexpr std::ptrdiff_t kMaxMethodBytes = 32;

// The state of reading: everything fine so far, out of bytes, or a fault.
enum class Progress { kGoOn, kShort, kBad };

// Reads one head from its first byte on. A short input ends it; it is not continued, and the next
// input gets its own reader.
class HeadReader {
 public:
  HeadReader(std::string_view input, const ParserLimits& limits, Request& out)
      : at_(input.data()),
        end_(input.data() + std::min(input.size(), limits.max_head_bytes)),
        limits_(limits),
        out_(out) {}

  auto Read() -> Progress {
    out_.Clear();
    if (const Progress lines = SkipEmptyLines(); lines != Progress::kGoOn) {
      return lines;
    }
    const char* start = at_;
    if (const Progress line = ReadRequestLine(); line != Progress::kGoOn) {
      return line;
    }
    if (const Progress fields = ReadFields(); fields != Progress::kGoOn) {
      return fields;
    }
    out_.head = Text(start, at_);
    return Check(ApplyHeadRules(out_));
  }

  auto At() const -> const char* { return at_; }
  auto Fault() const -> const HeadFault& { return fault_; }

  // When out of bytes within the target: where it would become too long. Otherwise nullptr.
  auto EndOfTarget() const -> const char* { return end_of_target_; }

 private:
  static auto Text(const char* from, const char* to) -> std::string_view {
    return {from, static_cast<std::size_t>(to - from)};
  }

  auto Bad(int status, const char* reason) -> Progress {
    fault_ = {status, reason};
    return Progress::kBad;
  }

  auto Check(const HeadFault& fault) -> Progress {
    fault_ = fault;
    return fault ? Progress::kBad : Progress::kGoOn;
  }

  // Takes the CRLF at at_. RFC 9112, section 2.2, allows a bare LF as a line end and forbids a bare
  // CR; two readers that choose differently see different requests.
  auto TakeLineEnd(const char* otherwise) -> Progress {
    if (at_ == end_) {
      return Progress::kShort;
    }
    if (*at_ != '\r') {
      return Bad(400, *at_ == '\n' ? "line ends with LF instead of CRLF" : otherwise);
    }
    if (end_ - at_ < 2) {
      return Progress::kShort;
    }
    if (at_[1] != '\n') {
      return Bad(400, "CR without LF");
    }
    at_ += 2;
    return Progress::kGoOn;
  }

  auto SkipEmptyLines() -> Progress {
    for (int lines = 0; at_ != end_ && (*at_ == '\r' || *at_ == '\n'); ++lines) {
      if (lines == kMaxEmptyLines) {
        return Bad(400, "too many empty lines before the request");
      }
      if (const Progress line = TakeLineEnd(""); line != Progress::kGoOn) {
        return line;
      }
    }
    return at_ == end_ ? Progress::kShort : Progress::kGoOn;
  }

  // method SP target SP version CRLF, with single spaces (RFC 9112, section 3). The version is
  // checked before the target: the targets of another version are unknown to us.
  auto ReadRequestLine() -> Progress {
    const char* space = scan::SkipToken(at_, end_);
    if (space - at_ > kMaxMethodBytes) {
      return Bad(501, "method too long");
    }
    if (space == end_) {
      return Progress::kShort;
    }
    if (*space != ' ' || space == at_) {
      return Bad(400, "invalid method");
    }
    out_.method_text = Text(at_, space);
    out_.method = MethodOf(out_.method_text);
    at_ = space + 1;
    if (const Progress target = ReadTarget(); target != Progress::kGoOn) {
      return target;
    }
    if (const Progress version = ReadVersion(); version != Progress::kGoOn) {
      return version;
    }
    return Check(out_.uri.Parse(out_.target, out_.method));
  }

  auto ReadTarget() -> Progress {
    const std::size_t room =
        std::min(static_cast<std::size_t>(end_ - at_), limits_.max_target_bytes);
    const char* space = scan::SkipTargetText(at_, at_ + room);
    if (space == end_) {
      end_of_target_ = at_ + limits_.max_target_bytes;
      return Progress::kShort;
    }
    if (*space != ' ' || space == at_) {
      const bool is_text = *space > ' ' && *space < '\x7f';
      return is_text ? Bad(414, "target too long") : Bad(400, "invalid target");
    }
    out_.target = Text(at_, space);
    at_ = space + 1;
    return Progress::kGoOn;
  }

  // "HTTP/1.1" CRLF, in upper case (RFC 9112, section 2.3).
  auto ReadVersion() -> Progress {
    constexpr std::string_view kUsual = "HTTP/1.1\r\n";
    // With a constant size, memcmp(3) is two comparisons; comparing string_views is two calls.
    if (end_ - at_ >= static_cast<std::ptrdiff_t>(kUsual.size()) &&
        std::memcmp(at_, kUsual.data(), kUsual.size()) == 0) {
      at_ += kUsual.size();
      return Progress::kGoOn;
    }
    constexpr std::string_view kPattern = "HTTP/d.d";
    for (const char wanted : kPattern) {
      if (at_ == end_) {
        return Progress::kShort;
      }
      if (wanted == 'd' ? !ascii::IsDigit(*at_) : *at_ != wanted) {
        return Bad(400, "invalid HTTP version");
      }
      ++at_;
    }
    if (at_[-3] != '1') {
      return Bad(505, "HTTP version not supported");
    }
    // RFC 9110, section 2.5: a higher minor version is read as the highest one known here.
    out_.minor_version = at_[-1] == '0' ? 0 : 1;
    return TakeLineEnd("invalid request line");
  }

  // Field lines up to the empty line (RFC 9112, section 5).
  auto ReadFields() -> Progress {
    while (at_ != end_ && *at_ != '\r') {
      if (out_.headers.Size() == limits_.max_fields) {
        return Bad(431, "too many header fields");
      }
      if (const Progress field = ReadField(); field != Progress::kGoOn) {
        return field;
      }
    }
    return TakeLineEnd("");
  }

  auto ReadField() -> Progress {
    const char* colon = scan::SkipToken(at_, end_);
    if (colon == end_) {
      return Progress::kShort;
    }
    if (*colon != ':' || colon == at_) {
      return Bad(400, FaultOfName(*colon, colon == at_));
    }
    const std::string_view name = Text(at_, colon);
    at_ = colon + 1;
    while (at_ != end_ && ascii::IsOws(*at_)) {
      ++at_;
    }
    const char* value = at_;
    at_ = scan::SkipFieldText(at_, end_);
    const char* value_end = at_;
    while (value_end != value && ascii::IsOws(value_end[-1])) {
      --value_end;
    }
    out_.headers.Add(name, Text(value, value_end));
    return TakeLineEnd("control character in a header field");
  }

  static auto FaultOfName(char stop, bool at_line_start) -> const char* {
    if (ascii::IsOws(stop)) {
      // The first used to be a folded line, the second is a way to hide a field from a proxy.
      return at_line_start ? "header line begins with whitespace" : "whitespace in a header name";
    }
    return "invalid header name";
  }

  const char* at_;
  const char* const end_;
  const ParserLimits& limits_;
  Request& out_;
  HeadFault fault_;
  const char* end_of_target_ = nullptr;
};

}  // namespace

auto HttpParser::Parse(std::string_view input, Request& out) -> ParseResult {
  if (!IsWorthATry(input)) {
    return {};
  }
  HeadReader reader(input, *limits_, out);
  switch (reader.Read()) {
    case Progress::kGoOn:
      Reset();
      return {ParseState::kDone, static_cast<std::size_t>(reader.At() - input.data()), 0, ""};
    case Progress::kBad:
      Reset();
      return {ParseState::kBad, 0, reader.Fault().status, reader.Fault().reason};
    case Progress::kShort:
      break;
  }
  if (input.size() >= limits_->max_head_bytes) {
    Reset();
    return {ParseState::kBad, 0, 431, "head too large"};
  }
  // Trying again at twice the size keeps the whole work linear; a target or head that becomes too
  // long is noticed at once.
  std::size_t next = std::min(2 * input.size(), limits_->max_head_bytes);
  if (const char* end = reader.EndOfTarget(); end != nullptr) {
    next = std::min(next, static_cast<std::size_t>(end - input.data()) + 1);
  }
  seen_ = static_cast<std::uint32_t>(input.size());
  next_try_ = static_cast<std::uint32_t>(next);
  return {};
}

// True if a head may end in the bytes not yet examined, or enough have come to try without.
auto HttpParser::IsWorthATry(std::string_view input) -> bool {
  std::size_t at = seen_;
  seen_ = static_cast<std::uint32_t>(input.size());
  if (input.size() >= next_try_) {
    return true;
  }
  while ((at = input.find('\n', at)) != std::string_view::npos) {
    const bool is_bare = at == 0 || input[at - 1] != '\r';
    if (is_bare || (at > 1 && input[at - 2] == '\n')) {
      return true;
    }
    ++at;
  }
  return false;
}

}  // namespace TURTLE_SERVER
