#include "http/cgi_header.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <utility>

#include "base/ascii.h"

namespace TURTLE_SERVER {

namespace {

// With a CR in a value, a program (or the source of its data) could forge fields of our response.
auto HasControl(std::string_view value) -> bool {
  return std::any_of(value.begin(), value.end(),
                     [](char c) { return ascii::IsControl(c) && c != '\t'; });
}

// scheme ":" (RFC 3986, 3.1)
auto IsAbsoluteUri(std::string_view text) -> bool {
  const std::string_view scheme = text.substr(0, text.find(':'));
  return !scheme.empty() && scheme.size() + 1 < text.size() && ascii::IsLetter(scheme.front()) &&
         std::all_of(scheme.begin(), scheme.end(), [](char c) {
           return ascii::IsLetter(c) || ascii::IsDigit(c) || c == '+' || c == '-' || c == '.';
         });
}

// These describe the connection to the client, or only the server may set them (RFC 3875, 6.3.4).
auto BelongsToServer(std::string_view name) -> bool {
  static constexpr std::array<std::string_view, 10> kNames = {
      "Connection", "Keep-Alive", "Proxy-Connection",  "TE",     "Trailer",
      "Upgrade",    "Date",       "Transfer-Encoding", "Server", "Proxy-Authenticate"};
  return std::any_of(kNames.begin(), kNames.end(),
                     [&](std::string_view known) { return ascii::EqualIgnoreCase(known, name); });
}

// These are not lists: if there are two, clients and caches choose differently.
auto MayBeThereOnce(std::string_view name) -> bool {
  static constexpr std::array<std::string_view, 7> kNames = {
      "Age",     "Content-Location", "Content-Range", "ETag",
      "Expires", "Last-Modified",    "Retry-After"};
  return std::any_of(kNames.begin(), kNames.end(),
                     [&](std::string_view known) { return ascii::EqualIgnoreCase(known, name); });
}

// True for the fields that would be false in a response without content.
auto DescribesContent(std::string_view name) -> bool {
  return ascii::EqualIgnoreCase(name, "Content-Encoding") ||
         ascii::EqualIgnoreCase(name, "Content-Language") ||
         ascii::EqualIgnoreCase(name, "Content-Range");
}

auto HasField(const CgiHeader& header, std::string_view name) -> bool {
  return std::any_of(header.fields.begin(), header.fields.end(), [&](const CgiField& field) {
    return ascii::EqualIgnoreCase(field.name, name);
  });
}

}  // namespace

auto CgiHeaderParser::Parse(std::string_view output, CgiHeader& header) -> CgiHeaderResult {
  while (result_.state == CgiHeaderState::kNeedMore) {
    const std::size_t end = output.find('\n', scanned_);
    const std::size_t used = end == std::string_view::npos ? output.size() : end + 1;
    if (used > limits_.max_bytes) {
      return Bad("the header block is too long");
    }
    scanned_ = used;
    if (end == std::string_view::npos) {
      break;
    }
    std::string_view line = output.substr(line_start_, end - line_start_);
    line_start_ = used;
    if (!line.empty() && line.back() == '\r') {
      line.remove_suffix(1);
    }
    const char* wrong = line.empty() ? Finish(header) : ReadLine(line, header);
    if (wrong != nullptr) {
      return Bad(wrong);
    }
    if (line.empty()) {
      result_ = {CgiHeaderState::kDone, used, ""};
    }
  }
  return result_;
}

void CgiHeaderParser::Reset() { *this = CgiHeaderParser(limits_); }

auto CgiHeaderParser::Bad(const char* reason) -> CgiHeaderResult {
  result_ = {CgiHeaderState::kBad, 0, reason};
  return result_;
}

// Returns the fault of the line, or nullptr if there is none.
auto CgiHeaderParser::ReadLine(std::string_view line, CgiHeader& header) -> const char* {
  if (line.substr(0, 5) == "HTTP/") {
    return "a status line instead of a header field (nph programs are not supported)";
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0) {
    return "a line is not a header field";
  }
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = ascii::TrimOws(line.substr(colon + 1));
  // This refuses folded lines, too: they begin with white space, which no name contains.
  if (!std::all_of(name.begin(), name.end(), ascii::IsToken)) {
    return "a header field's name has a character that no name may have";
  }
  if (HasControl(value)) {
    return "a header field's value has a control character";
  }
  if (++fields_ > limits_.max_fields) {
    return "the header block has too many fields";
  }

  if (ascii::EqualIgnoreCase(name, "Status")) {
    return std::exchange(has_status_, true) ? "Status appears twice" : ReadStatus(value, header);
  }
  if (ascii::EqualIgnoreCase(name, "Location")) {
    header.location = value;
    return std::exchange(has_location_, true) ? "Location appears twice" : nullptr;
  }
  if (ascii::EqualIgnoreCase(name, "Content-Type")) {
    header.content_type = value;
    return std::exchange(has_content_type_, true) ? "Content-Type appears twice" : nullptr;
  }
  if (ascii::EqualIgnoreCase(name, "Content-Length")) {
    return ReadLength(value, header);
  }
  if (MayBeThereOnce(name) && HasField(header, name)) {
    return "a field that is not a list appears twice";
  }
  if (!BelongsToServer(name)) {
    header.fields.push_back({std::string(name), std::string(value)});
  }
  return nullptr;
}

// Status = "Status:" status-code SP reason-phrase; many programs omit the phrase.
auto CgiHeaderParser::ReadStatus(std::string_view value, CgiHeader& header) -> const char* {
  if (value.size() < 3 || !std::all_of(value.begin(), value.begin() + 3, ascii::IsDigit) ||
      (value.size() > 3 && value[3] != ' ')) {
    return "Status is not a three-digit number and a phrase";
  }
  std::from_chars(value.data(), value.data() + 3, header.status);
  if (header.status < 200 || header.status > 599) {
    return "Status is not that of a final response";  // 1xx would leave the client waiting
  }
  header.reason = ascii::TrimOws(value.substr(3));
  return nullptr;
}

auto CgiHeaderParser::ReadLength(std::string_view value, CgiHeader& header) -> const char* {
  std::uint64_t length = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), length);
  if (value.empty() || error != std::errc() || end != value.data() + value.size()) {
    return "Content-Length is not a number";
  }
  if (length > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return "Content-Length is longer than anything can be";
  }
  if (header.content_length && *header.content_length != length) {
    return "Content-Length appears twice with different values";
  }
  header.content_length = length;
  return nullptr;
}

auto CgiHeaderParser::Finish(CgiHeader& header) const -> const char* {
  if (!has_status_ && !has_location_ && !has_content_type_) {
    return "neither Content-Type nor Location nor Status";
  }
  if (header.status == 304) {  // RFC 9110, section 15.4.5
    header.content_type.clear();
    header.fields.erase(
        std::remove_if(header.fields.begin(), header.fields.end(),
                       [](const CgiField& field) { return DescribesContent(field.name); }),
        header.fields.end());
  }
  if (!has_location_) {
    return nullptr;
  }
  const bool is_path = !header.location.empty() && header.location.front() == '/';
  if ((!is_path && !IsAbsoluteUri(header.location)) ||
      header.location.find_first_of(" \t") != std::string::npos) {
    return "Location is neither a path nor an absolute URI";
  }
  // With an explicit status, even a path is meant for the client: "303, see /done".
  if (is_path && !has_status_) {
    header.kind = CgiReplyKind::kLocalRedirect;
    header.status = 302;
  } else if (!has_status_ || header.status / 100 == 3) {
    header.kind = CgiReplyKind::kClientRedirect;
    header.status = has_status_ ? header.status : 302;
  }
  return nullptr;
}

}  // namespace TURTLE_SERVER
