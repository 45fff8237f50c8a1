#include "http/uri.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"

namespace TURTLE_SERVER {

namespace {

constexpr auto Bad(const char* reason) -> HeadFault { return {400, reason}; }

// The bytes to look for while a host or a path is scanned: one load and one branch for each of the
// many bytes that mean nothing.
using ByteTable = std::array<bool, 256>;

// The characters of a host name: RFC 3986, section 3.2.2.
constexpr auto MakeHostTable() -> ByteTable {
  ByteTable table{};
  for (std::size_t c = 0; c < 128; ++c) {
    table[c] = ascii::IsLetter(static_cast<char>(c)) || ascii::IsDigit(static_cast<char>(c));
  }
  for (char c : std::string_view("-._~!$&'()*+,;=")) {
    table[static_cast<unsigned char>(c)] = true;
  }
  return table;
}

// The characters of a path that mean themselves, wherever they are.
constexpr auto MakePathTable() -> ByteTable {
  ByteTable table{};
  for (bool& is_plain : table) {
    is_plain = true;
  }
  for (char c : std::string_view("/%?#\\")) {
    table[static_cast<unsigned char>(c)] = false;
  }
  return table;
}

constexpr ByteTable kHostTable = MakeHostTable();
constexpr ByteTable kPathTable = MakePathTable();

// Returns the index of the first byte from `at` on that is not in `table`, or the size of `text`.
auto Skip(const ByteTable& table, std::string_view text, std::size_t at) -> std::size_t {
  while (at < text.size() && table[static_cast<unsigned char>(text[at])]) {
    ++at;
  }
  return at;
}

// Returns the end of the name or IPv4 address at the beginning of `text`, escapes included.
auto EndOfHostName(std::string_view text) -> std::size_t {
  std::size_t at = Skip(kHostTable, text, 0);
  while (text.size() - at > 2 && text[at] == '%' && ascii::HexValue(text[at + 1]) >= 0 &&
         ascii::HexValue(text[at + 2]) >= 0) {
    at = Skip(kHostTable, text, at + 3);
  }
  return at;
}

auto TakeUntil(char end, std::string_view& rest) -> std::string_view {
  const std::size_t size = std::min(rest.find(end), rest.size());
  const std::string_view part = rest.substr(0, size);
  rest.remove_prefix(std::min(size + 1, rest.size()));
  return part;
}

auto IsHex(std::string_view text) -> bool {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return ascii::HexValue(c) >= 0; });
}

// True for 0 to 255, without a leading zero.
auto IsOctet(std::string_view text) -> bool {
  return !text.empty() && text.size() <= 3 &&
         std::all_of(text.begin(), text.end(), ascii::IsDigit) &&
         (text.size() == 1 || text.front() != '0') && (text.size() < 3 || text <= "255");
}

auto IsIpv4(std::string_view text) -> bool {
  const bool three_points = std::count(text.begin(), text.end(), '.') == 3;
  for (int i = 0; i < 4; ++i) {
    if (!IsOctet(TakeUntil('.', text))) {
      return false;
    }
  }
  return three_points;
}

// True for eight groups; the last two may be an IPv4 address, and one "::" for one or more groups.
auto IsIpv6(std::string_view text) -> bool {
  std::size_t groups = 0;
  bool gap = text.substr(0, 2) == "::";
  text.remove_prefix(gap ? 2 : 0);
  while (!text.empty()) {
    const bool is_last = text.find(':') == std::string_view::npos;
    const std::string_view group = TakeUntil(':', text);
    if (is_last && IsIpv4(group)) {
      groups += 2;
      break;
    }
    if (!IsHex(group) || group.size() > 4 || (!is_last && text.empty())) {
      return false;
    }
    ++groups;
    if (!text.empty() && text.front() == ':') {
      if (gap) {
        return false;
      }
      gap = true;
      text.remove_prefix(1);
    }
  }
  return gap ? groups < 8 : groups == 8;
}

// True for "v1.x": an address of a future kind.
auto IsFutureIp(std::string_view text) -> bool {
  if (text.empty() || ascii::ToLower(text.front()) != 'v' ||
      text.find('.') == std::string_view::npos) {
    return false;
  }
  text.remove_prefix(1);
  return IsHex(TakeUntil('.', text)) && !text.empty() &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return c == ':' || kHostTable[static_cast<unsigned char>(c)]; });
}

// True if `text` may be between the brackets of "[::1]". Nobody resolves it, but a proxy that
// follows the grammar (RFC 3986, section 3.2.2) must not see a host where there is none, or the
// other way round.
auto IsBracketed(std::string_view literal) -> bool {
  return IsIpv6(literal) || IsFutureIp(literal);
}

auto IsPort(std::string_view port) -> bool {
  unsigned value = 0;
  for (char c : port) {
    if (!ascii::IsDigit(c)) {
      return false;
    }
    value = value * 10 + static_cast<unsigned>(c - '0');
    if (value > 65535) {
      return false;
    }
  }
  return true;
}

// Appends `segment`, decoded once, to `out`. An escape is refused if the next reader of the path
// could take its result for anything other than a character of a name.
auto AppendDecoded(std::string_view segment, std::string& out) -> HeadFault {
  for (std::size_t i = 0; i < segment.size(); ++i) {
    char c = segment[i];
    if (c == '%') {
      const int high = segment.size() - i > 2 ? ascii::HexValue(segment[i + 1]) : -1;
      const int low = segment.size() - i > 2 ? ascii::HexValue(segment[i + 2]) : -1;
      if (high < 0 || low < 0) {
        return Bad("invalid percent-encoding in the path");
      }
      c = static_cast<char>(high * 16 + low);
      if (c == '/' || c == '\\') {
        return Bad("encoded slash in the path");
      }
      if (ascii::IsControl(c)) {
        return Bad("encoded control character in the path");
      }
      i += 2;
    }
    out += c;
  }
  return {};
}

}  // namespace

auto IsValidHost(std::string_view text) -> bool {
  std::size_t end = 0;
  if (!text.empty() && text.front() == '[') {
    end = text.find(']');
    if (end == std::string_view::npos || !IsBracketed(text.substr(1, end - 1))) {
      return false;
    }
    ++end;
  } else {
    end = EndOfHostName(text);
  }
  const std::string_view port = text.substr(end);
  return port.empty() || (port.front() == ':' && end != 0 && IsPort(port.substr(1)));
}

auto Uri::Parse(std::string_view target, Method method) -> HeadFault {
  raw_path_ = query_ = authority_ = {};
  is_rewritten_ = false;
  if (method == Method::kConnect) {
    form_ = TargetForm::kAuthority;
    authority_ = target;
    // A colon may be one of an IPv6 address; the last digit, after a bracket, is always a port's.
    const bool has_port =
        target.find(':') != std::string_view::npos && ascii::IsDigit(target.back());
    return has_port && IsValidHost(target) ? HeadFault{} : Bad("CONNECT needs host:port");
  }
  if (target.front() == '/') {
    form_ = TargetForm::kOrigin;
    return ParsePathAndQuery(target);
  }
  if (target == "*") {
    form_ = TargetForm::kAsterisk;
    raw_path_ = target;
    return method == Method::kOptions ? HeadFault{} : Bad("the target * is for OPTIONS only");
  }
  form_ = TargetForm::kAbsolute;
  return ParseAbsolute(target);
}

auto Uri::ParseAbsolute(std::string_view target) -> HeadFault {
  const std::size_t colon = target.find("://");
  const std::string_view scheme = target.substr(0, colon);
  if (colon == std::string_view::npos ||
      (!ascii::EqualIgnoreCase(scheme, "http") && !ascii::EqualIgnoreCase(scheme, "https"))) {
    return Bad("the target is neither a path nor an http URI");
  }
  const std::string_view rest = target.substr(colon + 3);
  const std::size_t end = std::min(rest.find_first_of("/?#"), rest.size());
  authority_ = rest.substr(0, end);
  // '@' is not a character of a host: user:password@host is refused, as RFC 9110, 4.2.4, suggests.
  if (authority_.empty() || authority_.front() == ':' || !IsValidHost(authority_)) {
    return Bad("invalid authority in the target");
  }
  return ParsePathAndQuery(rest.substr(end));
}

auto Uri::ParsePathAndQuery(std::string_view text) -> HeadFault {
  std::size_t end = 0;
  bool rewrite = false;
  while ((end = Skip(kPathTable, text, end)) < text.size() && text[end] != '?') {
    switch (text[end]) {
      case '\\':
        return Bad("backslash in the path");
      case '#':
        return Bad("fragment in the target");
      case '%':
        rewrite = true;
        ++end;
        break;
      default:  // a slash
        ++end;
        rewrite = rewrite || (end < text.size() && (text[end] == '/' || text[end] == '.'));
    }
  }
  raw_path_ = text.substr(0, end);
  if (end < text.size()) {
    query_ = text.substr(end + 1);
    if (query_.find('#') != std::string_view::npos) {
      return Bad("fragment in the target");
    }
  }
  return rewrite || raw_path_.empty() ? RewritePath() : HeadFault{};
}

auto Uri::RewritePath() -> HeadFault {
  is_rewritten_ = true;
  rewritten_ = "/";  // it always ends with a slash here, except after the last segment
  std::string_view rest = raw_path_;
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const std::size_t end = std::min(rest.find('/'), rest.size());
    const std::size_t start = rewritten_.size();
    if (const HeadFault fault = AppendDecoded(rest.substr(0, end), rewritten_)) {
      return fault;
    }
    rest.remove_prefix(end);
    const std::string_view segment = std::string_view(rewritten_).substr(start);
    if (segment == ".") {
      rewritten_.resize(start);
    } else if (segment == "..") {
      if (start == 1) {
        return Bad("the path leaves the root");
      }
      rewritten_.resize(rewritten_.rfind('/', start - 2) + 1);
    } else if (!segment.empty() && !rest.empty()) {
      rewritten_ += '/';
    }
  }
  return {};
}

void Uri::Rebase(const ViewShift& shift) {
  shift(raw_path_);
  shift(query_);
  shift(authority_);
}

}  // namespace TURTLE_SERVER
