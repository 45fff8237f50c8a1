#include "http/forwarded.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "base/ascii.h"

namespace TURTLE_SERVER {

namespace {

constexpr std::size_t kNone = std::string_view::npos;

// Returns true if a backslash protects the byte at `at`.
auto IsEscaped(std::string_view text, std::size_t at) noexcept -> bool {
  std::size_t backslashes = 0;
  while (backslashes < at && text[at - backslashes - 1] == '\\') {
    ++backslashes;
  }
  return backslashes % 2 != 0;
}

// Returns where the quoted string begins that ends at `close`; kNone: nowhere.
auto OpeningQuote(std::string_view text, std::size_t close) noexcept -> std::size_t {
  std::size_t at = close;
  do {
    at = at == 0 ? kNone : text.rfind('"', at - 1);
  } while (at != kNone && IsEscaped(text, at));
  return at;
}

// Returns where the last element of a list begins; kNone: it has a quote without a partner.
auto LastElementAt(std::string_view list) noexcept -> std::size_t {
  std::size_t at = list.size();
  while (at > 0 && list[at - 1] != ',') {
    --at;
    if (list[at] == '"') {
      at = OpeningQuote(list, at);
      if (at == kNone) {
        return kNone;
      }
    }
  }
  return at;
}

// Returns the length of the quoted string that `text` begins with; 0: it does not end.
auto QuotedBytes(std::string_view text) noexcept -> std::size_t {
  for (std::size_t at = 1; at < text.size(); ++at) {
    if (text[at] == '"') {
      return at + 1;
    }
    at += text[at] == '\\' ? 1 : 0;
  }
  return 0;
}

// Many proxies leave out the quotes around an address that needs them.
auto IsBareByte(char c) noexcept -> bool {
  return ascii::IsToken(c) || c == ':' || c == '[' || c == ']';
}

auto BareBytes(std::string_view text) noexcept -> std::size_t {
  std::size_t bytes = 0;
  while (bytes < text.size() && IsBareByte(text[bytes])) {
    ++bytes;
  }
  return bytes;
}

// Cuts "name=value" off, up to the end or the next semicolon. @return false: there is no such text
auto TakePair(std::string_view& rest, std::string_view& name, std::string_view& value) noexcept
    -> bool {
  const std::size_t equals = rest.find('=');
  name = rest.substr(0, equals);
  if (equals == kNone || name.empty() || !std::all_of(name.begin(), name.end(), ascii::IsToken)) {
    return false;
  }
  rest.remove_prefix(equals + 1);
  const bool quoted = !rest.empty() && rest.front() == '"';
  const std::size_t bytes = quoted ? QuotedBytes(rest) : BareBytes(rest);
  if (bytes == 0) {
    return false;
  }
  value = quoted ? rest.substr(1, bytes - 2) : rest.substr(0, bytes);
  rest = ascii::TrimOws(rest.substr(bytes));
  return rest.empty() || rest.front() == ';';
}

// Keeps a value, the first of its name. @return false: it is empty, or there is one already
auto Keep(std::string_view value, std::string_view& kept) noexcept -> bool {
  const bool fits = !value.empty() && kept.empty();
  kept = value;
  return fits;
}

auto ParseElement(std::string_view text, ForwardedElement& element) noexcept -> bool {
  element = {};
  std::string_view name;
  std::string_view value;
  while (!text.empty()) {
    if (text.front() == ';') {  // a pair may be missing
      text = ascii::TrimOws(text.substr(1));
      continue;
    }
    if (!TakePair(text, name, value)) {
      return false;
    }
    const bool is_for = ascii::EqualIgnoreCase(name, "for");
    const bool is_proto = ascii::EqualIgnoreCase(name, "proto");
    if ((is_for && !Keep(value, element.node)) || (is_proto && !Keep(value, element.proto))) {
      return false;
    }
  }
  return true;
}

auto IsHiddenByte(char c) noexcept -> bool {
  return ascii::IsLetter(c) || ascii::IsDigit(c) || c == '.' || c == '_' || c == '-';
}

// Returns true for "_gateway7".
auto IsHiddenName(std::string_view text) noexcept -> bool {
  return text.size() > 1 && text.front() == '_' &&
         std::all_of(text.begin(), text.end(), IsHiddenByte);
}

// Takes a port off that must be all of `text`, with its colon. @return false: it is none
auto TakePort(std::string_view text, ForwardedNode& node) noexcept -> bool {
  if (text.empty()) {
    return true;
  }
  const std::string_view port = text.substr(1);
  if (text.front() != ':' || port.empty()) {
    return false;
  }
  node.port = IsHiddenName(port) ? std::string_view() : port;
  return true;
}

// Returns where the host of a node ends.
auto HostBytes(std::string_view node) noexcept -> std::size_t {
  if (!node.empty() && node.front() == '[') {
    const std::size_t close = node.find(']');
    return close == kNone ? node.size() : close + 1;
  }
  const std::size_t colon = node.find(':');
  return colon == kNone || node.find(':', colon + 1) != kNone ? node.size() : colon;
}

}  // namespace

ForwardedList::ForwardedList(const Headers& fields) noexcept
    : fields_(fields),
      field_(fields.Has(KnownField::kForwarded) ? KnownField::kForwarded
                                                : KnownField::kXForwardedFor),
      lines_left_(fields.Has(field_) ? fields.Size() : 0) {}

// Begins with the line before the one that has been read. @return false: there is none
auto ForwardedList::TakeLine() noexcept -> bool {
  while (lines_left_ > 0) {
    --lines_left_;
    const HeaderField& field =
        *std::next(fields_.begin(), static_cast<std::ptrdiff_t>(lines_left_));
    if (field.known == field_) {
      line_ = field.value;
      return true;
    }
  }
  return false;
}

auto ForwardedList::TakeLast(ForwardedElement& element) noexcept -> ForwardedState {
  const bool is_old = field_ == KnownField::kXForwardedFor;  // without quotes and parameters
  while (!line_.empty() || TakeLine()) {
    const std::size_t at = is_old ? line_.rfind(',') + 1 : LastElementAt(line_);  // npos + 1 is 0
    if (at == kNone) {
      return ForwardedState::kBad;
    }
    const std::string_view text = ascii::TrimOws(line_.substr(at));
    line_ = line_.substr(0, at == 0 ? 0 : at - 1);
    if (text.empty()) {
      continue;
    }
    if (is_old) {
      element = {text, {}};
      return ForwardedState::kTaken;
    }
    return ParseElement(text, element) ? ForwardedState::kTaken : ForwardedState::kBad;
  }
  return ForwardedState::kEnd;
}

auto ParseForwardedNode(std::string_view node) noexcept -> ForwardedNode {
  using Kind = ForwardedNode::Kind;
  ForwardedNode result;
  std::string_view host = node.substr(0, HostBytes(node));
  if (host.empty() || !TakePort(node.substr(host.size()), result)) {
    return {};
  }
  if (ascii::EqualIgnoreCase(host, "unknown") || IsHiddenName(host)) {
    return {Kind::kHidden};
  }
  const bool opens = host.front() == '[';
  const bool closes = host.back() == ']';
  if (opens && closes) {
    host = host.substr(1, host.size() - 2);
  }
  const bool is_v6 = host.find(':') != kNone;
  if (opens != closes || (opens && !is_v6)) {
    return {};
  }
  result.kind = is_v6 ? Kind::kIpv6 : Kind::kIpv4;
  result.ip = host;
  return result;
}

auto LastForwardedProto(const Headers& fields) noexcept -> std::string_view {
  std::string_view line;
  fields.ForEach("X-Forwarded-Proto", [&line](std::string_view value) { line = value; });
  return ascii::TrimOws(line.substr(line.rfind(',') + 1));  // npos + 1 is 0
}

}  // namespace TURTLE_SERVER
