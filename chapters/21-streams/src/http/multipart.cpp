#include "http/multipart.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/ascii.h"
#include "http/parameters.h"

namespace TURTLE_SERVER {

namespace {

constexpr std::size_t kMaxBoundaryBytes = 70;
constexpr std::size_t kLineEndBytes = 2;  // at the front of a delimiter

// bcharsnospace, and space except at the end (RFC 2046, section 5.1.1)
auto IsBoundary(std::string_view text) -> bool {
  return !text.empty() && text.size() <= kMaxBoundaryBytes && text.back() != ' ' &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return ascii::IsLetter(c) || ascii::IsDigit(c) ||
                  std::string_view("'()+_,-./:=? ").find(c) != std::string_view::npos;
         });
}

auto IsText(char c) -> bool { return !ascii::IsControl(c) || c == '\t'; }

// Returns the byte that a browser has written as "%22", "%0D" or "%0A", or -1. It escapes nothing
// else, not even '%', so nothing else is an escape (WHATWG HTML, section 4.10.21.8).
auto BrowserEscape(std::string_view text) -> int {
  const std::string_view escape = text.substr(0, 3);
  if (escape == "%22") {
    return '"';
  }
  if (ascii::EqualIgnoreCase(escape, "%0D")) {
    return '\r';
  }
  return ascii::EqualIgnoreCase(escape, "%0A") ? '\n' : -1;
}

// Appends a value as the browser, or another program, meant it.
void AppendMeant(std::string_view value, std::string& out) {
  while (!value.empty()) {
    if (value.substr(0, 2) == "\\\"") {
      value.remove_prefix(1);
    }
    if (const int byte = BrowserEscape(value); byte >= 0) {
      out += static_cast<char>(byte);
      value.remove_prefix(3);
      continue;
    }
    out += value.front();
    value.remove_prefix(1);
  }
}

// Turns the client's name for its file into a name that leads nowhere.
void ReduceToName(std::string& filename) {
  // No path to a file ends with a backslash, so it belongs to a name there, as Linux allows.
  const std::size_t end = filename.find_last_not_of('\\') + 1;  // npos + 1 is 0
  filename.replace(end, filename.size() - end, filename.size() - end, '_');
  filename.erase(0, filename.find_last_of("/\\") + 1);  // npos + 1 is 0
  std::replace_if(filename.begin(), filename.end(), ascii::IsControl, '_');
  if (filename == "." || filename == "..") {
    filename.clear();
  }
}

// Returns the first place in `text` where `delimiter` is, or begins and is cut off; otherwise the
// end. A CR is only at the front of a delimiter, so no byte of the text is compared twice.
auto FindDelimiter(std::string_view text, std::string_view delimiter) -> std::size_t {
  std::size_t at = text.find('\r');
  while (at != std::string_view::npos &&
         text.substr(at, delimiter.size()) != delimiter.substr(0, text.size() - at)) {
    at = text.find('\r', at + 1);
  }
  return std::min(at, text.size());
}

}  // namespace

auto MultipartBoundary(std::string_view content_type, std::string& boundary) -> HeadFault {
  if (!ascii::EqualIgnoreCase(WithoutParameters(content_type), "multipart/form-data")) {
    return {415, "the body is not multipart/form-data"};
  }
  boundary.clear();
  std::string_view rest =
      content_type.substr(std::min(content_type.find(';'), content_type.size()));
  Parameter parameter;
  ParameterState state = ParameterState::kEnd;
  while ((state = TakeParameter(rest, parameter)) == ParameterState::kTaken) {
    if (!ascii::EqualIgnoreCase(parameter.name, "boundary")) {
      continue;
    }
    if (!boundary.empty()) {
      return {400, "Content-Type has two boundaries"};
    }
    if (!IsBoundary(parameter.value)) {
      return {400, "the boundary in Content-Type is not valid"};
    }
    boundary = parameter.value;
  }
  if (state == ParameterState::kBad) {
    return {400, "malformed Content-Type"};
  }
  return boundary.empty() ? HeadFault{400, "Content-Type has no boundary"} : HeadFault{};
}

// At the start, and where the content of a part begins, the line end before a delimiter has already
// been read, as the end of the previous line.
MultipartParser::MultipartParser(std::string_view boundary, const MultipartLimits& limits)
    : limits_(limits),
      delimiter_("\r\n--"),
      matched_(kLineEndBytes),
      given_(kLineEndBytes),
      body_left_(limits.max_body_bytes) {
  if (!IsBoundary(boundary)) {
    throw std::invalid_argument("MultipartParser: not a valid boundary");
  }
  delimiter_ += boundary;
}

auto MultipartParser::Read(std::string_view input) -> MultipartStep {
  const std::string_view allowed =
      input.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(body_left_, input.size())));
  std::string_view rest = allowed;
  MultipartStep step;
  while (step.event == MultipartEvent::kMore && !rest.empty() && place_ != Place::kBad) {
    switch (place_) {
      case Place::kPreamble:
      case Place::kContent:
        Search(rest, step);
        break;
      case Place::kHeader:
        ReadHeader(rest, step);
        break;
      case Place::kEpilogue:
        rest = {};
        break;
      default:
        ReadMark(rest.front());
        rest.remove_prefix(1);
    }
  }
  step.consumed = allowed.size() - rest.size();
  body_left_ -= step.consumed;
  const bool is_used_up = step.event == MultipartEvent::kMore && place_ != Place::kBad;
  if (is_used_up && allowed.size() < input.size()) {
    Fail(413, "the body is too large");
  }
  if (place_ == Place::kBad) {
    return {MultipartEvent::kBad, step.consumed, {}, fault_.status, fault_.reason};
  }
  return step;
}

auto MultipartParser::Finish() const noexcept -> HeadFault {
  switch (place_) {
    case Place::kBad:
      return fault_;
    case Place::kClosed:
    case Place::kClosedLf:
    case Place::kEpilogue:
      return {};
    default:
      return {400, "the body ends before its last boundary"};
  }
}

// Reads up to the next delimiter: content if a part is open, otherwise preamble.
void MultipartParser::Search(std::string_view& rest, MultipartStep& step) {
  if (matched_ == 0) {
    const std::size_t end = FindDelimiter(rest, delimiter_);
    rest.remove_prefix(TakeContent(rest.substr(0, end), step));
    matched_ = end == 0 ? 1 : 0;
    given_ = 0;
    rest.remove_prefix(matched_);
    return;
  }
  const std::string_view delimiter = delimiter_;
  const std::string_view wanted = delimiter.substr(matched_, rest.size());
  if (rest.substr(0, wanted.size()) != wanted) {
    given_ += TakeContent(delimiter.substr(given_, matched_ - given_), step);
    matched_ = given_ == matched_ ? 0 : matched_;
    return;
  }
  rest.remove_prefix(wanted.size());
  matched_ += wanted.size();
  if (matched_ == delimiter_.size()) {
    EndContent(step);
  }
}

// Returns how many bytes of `content` are consumed: all, or as many as the part may still have.
auto MultipartParser::TakeContent(std::string_view content, MultipartStep& step) -> std::size_t {
  if (content.empty() || place_ == Place::kPreamble) {
    return content.size();
  }
  if (part_left_ == 0) {
    Fail(413, "a part is too large");
    return 0;
  }
  step.event = MultipartEvent::kData;
  step.data = content.substr(
      0, static_cast<std::size_t>(std::min<std::uint64_t>(part_left_, content.size())));
  part_left_ -= step.data.size();
  return step.data.size();
}

void MultipartParser::EndContent(MultipartStep& step) {
  if (place_ == Place::kContent) {
    step.event = MultipartEvent::kPartEnd;
  }
  header_left_ = limits_.max_header_bytes;
  place_ = Place::kAfterDelimiter;
}

// Takes one byte after a boundary on its line.
void MultipartParser::ReadMark(char c) {
  const bool is_closed = place_ == Place::kClosed;
  if (place_ == Place::kPaddingLf || place_ == Place::kClosedLf) {
    if (c != '\n') {
      Fail(400, "a boundary is not followed by CR LF");
    } else if (place_ == Place::kClosedLf) {
      place_ = Place::kEpilogue;
    } else {
      BeginPart();
    }
  } else if (c == '-' && place_ == Place::kAfterDelimiter) {
    place_ = Place::kCloseDash;
  } else if (c == '-' && place_ == Place::kCloseDash) {
    place_ = Place::kClosed;
  } else if (c == '\r' && place_ != Place::kCloseDash) {
    place_ = is_closed ? Place::kClosedLf : Place::kPaddingLf;
  } else if (ascii::IsOws(c) && place_ != Place::kCloseDash) {
    place_ = is_closed ? Place::kClosed : Place::kPadding;
    if (header_left_ == 0) {
      Fail(413, "the space after a boundary is too long");
    } else {
      --header_left_;
    }
  } else {
    Fail(400, "a line begins with the boundary and goes on");
  }
}

void MultipartParser::BeginPart() {
  if (parts_ == limits_.max_parts) {
    return Fail(413, "too many parts");
  }
  ++parts_;
  part_.name.clear();
  part_.is_file = false;
  part_.filename.clear();
  part_.content_type.clear();
  has_disposition_ = has_content_type_ = false;
  place_ = Place::kHeader;
}

void MultipartParser::ReadHeader(std::string_view& rest, MultipartStep& step) {
  const std::size_t line_feed = rest.find('\n');
  const bool is_whole = line_feed != std::string_view::npos;
  const std::string_view piece = rest.substr(0, is_whole ? line_feed + 1 : line_feed);
  if (piece.size() > header_left_) {
    return Fail(413, "the header of a part is too long");
  }
  header_left_ -= piece.size();
  line_ += piece;
  rest.remove_prefix(piece.size());
  if (!is_whole) {
    return;
  }
  std::string_view line = line_;
  line.remove_suffix(1);
  if (line.empty() || line.back() != '\r') {
    return Fail(400, "a line of a part's header is not ended by CR LF");
  }
  line.remove_suffix(1);
  if (line.empty()) {
    EndHeader(step);
  } else if (const char* wrong = ReadField(line); wrong != nullptr) {
    Fail(400, wrong);
  }
  line_.clear();
}

void MultipartParser::EndHeader(MultipartStep& step) {
  if (!has_disposition_) {
    return Fail(400, "a part has no Content-Disposition");
  }
  step.event = MultipartEvent::kPart;
  matched_ = given_ = kLineEndBytes;
  part_left_ = limits_.max_part_bytes;
  place_ = Place::kContent;
}

// Returns the fault of the line, or nullptr if there is none.
auto MultipartParser::ReadField(std::string_view line) -> const char* {
  const std::size_t colon = line.find(':');
  const std::string_view name = line.substr(0, colon);
  // This refuses folded lines, too: they begin with white space, which no name contains.
  if (colon == std::string_view::npos || name.empty() ||
      !std::all_of(name.begin(), name.end(), ascii::IsToken)) {
    return "a line of a part's header is not a field";
  }
  const std::string_view value = ascii::TrimOws(line.substr(colon + 1));
  if (!std::all_of(value.begin(), value.end(), IsText)) {
    return "a field of a part has a control character";
  }
  if (ascii::EqualIgnoreCase(name, "Content-Disposition")) {
    return std::exchange(has_disposition_, true) ? "a part has Content-Disposition twice"
                                                 : ReadDisposition(value);
  }
  if (ascii::EqualIgnoreCase(name, "Content-Type")) {
    part_.content_type = value;
    return std::exchange(has_content_type_, true) ? "a part has Content-Type twice" : nullptr;
  }
  // RFC 7578, section 4.7, has deprecated it. If a client still used it, its Base64 would be taken
  // for its file.
  const bool is_coded = ascii::EqualIgnoreCase(name, "Content-Transfer-Encoding") &&
                        !ascii::EqualIgnoreCase(value, "binary") &&
                        !ascii::EqualIgnoreCase(value, "8bit") &&
                        !ascii::EqualIgnoreCase(value, "7bit");
  return is_coded ? "the content of a part is encoded" : nullptr;
}

auto MultipartParser::ReadDisposition(std::string_view value) -> const char* {
  if (!ascii::EqualIgnoreCase(WithoutParameters(value), "form-data")) {
    return "a part is not form-data";
  }
  std::string_view rest = value.substr(std::min(value.find(';'), value.size()));
  bool has_name = false;
  Parameter parameter;
  ParameterState state = ParameterState::kEnd;
  // Browsers escape no backslash (RFC 7578, section 4.2): "x\" is a file name. Other programs write
  // \" for a quote.
  while ((state = TakeParameter(rest, parameter, Backslash::kForm)) == ParameterState::kTaken) {
    if (ascii::EqualIgnoreCase(parameter.name, "name")) {
      AppendMeant(parameter.value, part_.name);
      if (std::exchange(has_name, true)) {
        return "a part has two names";
      }
    } else if (ascii::EqualIgnoreCase(parameter.name, "filename")) {
      AppendMeant(parameter.value, part_.filename);
      if (std::exchange(part_.is_file, true)) {
        return "a part has two file names";
      }
    }
  }
  if (state == ParameterState::kBad) {
    return "malformed Content-Disposition of a part";
  }
  ReduceToName(part_.filename);
  return has_name ? nullptr : "a part has no name";
}

void MultipartParser::Fail(int status, const char* reason) {
  fault_ = {status, reason};
  place_ = Place::kBad;
}

}  // namespace TURTLE_SERVER
