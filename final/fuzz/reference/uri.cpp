#include "reference/uri.h"

#include <arpa/inet.h>

#include <regex>
#include <string>
#include <vector>

#include "reference/text.h"

namespace TURTLE_SERVER::reference {

namespace {

// host [ ":" port ], split. The host of a reg-name may be empty.
struct Authority {
  std::string_view host;
  std::optional<std::string_view> port;
};

// reg-name = *( unreserved / pct-encoded / sub-delims ); it includes IPv4 addresses.
auto IsRegName(std::string_view text) -> bool {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      if (text.size() - i < 3 || !IsHex(text[i + 1]) || !IsHex(text[i + 2])) {
        return false;
      }
      i += 2;
    } else if (!IsAlpha(text[i]) && !IsDigit(text[i]) &&
               std::string_view("-._~!$&'()*+,;=").find(text[i]) == std::string_view::npos) {
      return false;
    }
  }
  return true;
}

auto IsPort(std::string_view text) -> bool {
  return text.empty() || (IsAll(text, IsDigit) && !IsLess("65535", Decimal(text)));
}

auto ReadAuthority(std::string_view text) -> std::optional<Authority> {
  Authority authority;
  std::string_view rest;
  if (!text.empty() && text.front() == '[') {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) {
      return std::nullopt;
    }
    authority.host = text.substr(0, end + 1);
    const std::string inside(text.substr(1, end - 1));
    // IPvFuture = "v" 1*HEXDIG "." 1*( unreserved / sub-delims / ":" )
    static const std::regex future("[vV][0-9A-Fa-f]+\\.[-A-Za-z0-9._~!$&'()*+,;=:]+");
    in6_addr address{};
    const bool is_ipv6 = inside.find('\0') == std::string::npos &&
                         inet_pton(AF_INET6, inside.c_str(), &address) == 1;
    if (!is_ipv6 && !std::regex_match(inside, future)) {
      return std::nullopt;
    }
    rest = text.substr(end + 1);
  } else {
    const std::size_t end = std::min(text.find(':'), text.size());
    authority.host = text.substr(0, end);
    if (!IsRegName(authority.host)) {
      return std::nullopt;
    }
    rest = text.substr(end);
  }
  if (!rest.empty()) {
    if (rest.front() != ':' || !IsPort(rest.substr(1))) {
      return std::nullopt;
    }
    authority.port = rest.substr(1);
  }
  return authority;
}

// Decodes one segment, once. nullopt: an invalid escape, or one whose result could be taken for
// anything other than a character of a name.
auto DecodeSegment(std::string_view segment) -> std::optional<std::string> {
  std::string decoded;
  for (std::size_t i = 0; i < segment.size(); ++i) {
    if (segment[i] == '\\') {
      return std::nullopt;
    }
    if (segment[i] != '%') {
      decoded += segment[i];
      continue;
    }
    if (segment.size() - i < 3 || !IsHex(segment[i + 1]) || !IsHex(segment[i + 2])) {
      return std::nullopt;
    }
    const char c = static_cast<char>(std::stoi(std::string(segment.substr(i + 1, 2)), nullptr, 16));
    if (IsCtl(c) || c == '/' || c == '\\') {
      return std::nullopt;
    }
    decoded += c;
    i += 2;
  }
  return decoded;
}

// RFC 3986, section 5.2.4, on a list of segments; climbing above the root is an error.
auto NormalPath(std::string_view raw) -> std::optional<std::string> {
  std::vector<std::string> segments;
  bool is_folder = true;
  for (const std::string_view piece : Split(raw.empty() ? raw : raw.substr(1), "/")) {
    const std::optional<std::string> segment = DecodeSegment(piece);
    if (!segment || (*segment == ".." && segments.empty())) {
      return std::nullopt;
    }
    is_folder = segment->empty() || *segment == "." || *segment == "..";
    if (*segment == "..") {
      segments.pop_back();
    } else if (!is_folder) {
      segments.push_back(*segment);
    }
  }
  std::string path;
  for (const std::string& segment : segments) {
    path += "/" + segment;
  }
  return path.empty() || is_folder ? path + "/" : path;
}

auto ReadPathAndQuery(std::string_view text, Target target) -> std::optional<Target> {
  if (text.find('#') != std::string_view::npos) {
    return std::nullopt;
  }
  const std::size_t mark = text.find('?');
  target.has_query = mark != std::string_view::npos;
  target.query = target.has_query ? text.substr(mark + 1) : "";
  const std::optional<std::string> path = NormalPath(text.substr(0, mark));
  if (!path) {
    return std::nullopt;
  }
  target.path = *path;
  return target;
}

}  // namespace

auto IsHostField(std::string_view text) -> bool {
  const std::optional<Authority> authority = ReadAuthority(text);
  // A port without a host names nothing.
  return authority && (!authority->host.empty() || !authority->port);
}

auto ReadTarget(std::string_view target, std::string_view method) -> std::optional<Target> {
  Target result;
  if (method == "CONNECT") {
    const std::optional<Authority> authority = ReadAuthority(target);
    if (!authority || authority->host.empty() || !authority->port || authority->port->empty()) {
      return std::nullopt;
    }
    result.form = 'c';
    result.authority = target;
    return result;
  }
  if (target.front() == '/') {
    result.form = 'o';
    return ReadPathAndQuery(target, result);
  }
  if (target == "*") {
    result.form = '*';
    result.path = "*";
    return method == "OPTIONS" ? std::optional(result) : std::nullopt;
  }
  const std::string lower = Lower(target);
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (lower.compare(0, scheme.size(), scheme) != 0) {
      continue;
    }
    const std::string_view rest = target.substr(scheme.size());
    const std::size_t end = std::min(rest.find_first_of("/?#"), rest.size());
    const std::optional<Authority> authority = ReadAuthority(rest.substr(0, end));
    if (!authority || authority->host.empty()) {
      return std::nullopt;
    }
    result.form = 'a';
    result.authority = rest.substr(0, end);
    return ReadPathAndQuery(rest.substr(end), result);
  }
  return std::nullopt;
}

}  // namespace TURTLE_SERVER::reference
