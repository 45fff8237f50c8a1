#include "http/uri.h"

#include <algorithm>

#include "base/ascii.h"

namespace TURTLE_SERVER {

namespace {

constexpr auto Bad(const char* reason) -> HeadFault { return {400, reason}; }

// The characters of a host's name beside letters and digits: RFC 3986, section 3.2.2.
constexpr auto IsHostMark(char c) -> bool {
  return std::string_view("-._~!$&'()*+,;=").find(c) != std::string_view::npos;
}

auto IsHostName(std::string_view name) -> bool {
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '%') {
      if (name.size() - i < 3 || ascii::HexValue(name[i + 1]) < 0 ||
          ascii::HexValue(name[i + 2]) < 0) {
        return false;
      }
      i += 2;
    } else if (!ascii::IsLetter(c) && !ascii::IsDigit(c) && !IsHostMark(c)) {
      return false;
    }
  }
  return true;
}

// What may stand between the brackets of "[::1]". Nobody resolves it, so the alphabet will do.
auto IsBracketed(std::string_view literal) -> bool {
  for (char c : literal) {
    if (ascii::HexValue(c) < 0 && c != ':' && c != '.') {
      return false;
    }
  }
  return literal.find(':') != std::string_view::npos;
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

// Appends `segment`, decoded once, to `out`. What comes out of an escape is refused if the next
// reader of the path could take it for something else than a character of a name.
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
    end = std::min(text.find(':'), text.size());
    if (!IsHostName(text.substr(0, end))) {
      return false;
    }
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
    const bool has_port = target.find(':') != std::string_view::npos;
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
  // '@' is no character of a host: user:password@host is refused as RFC 9110, 4.2.4, suggests.
  if (authority_.empty() || authority_.front() == ':' || !IsValidHost(authority_)) {
    return Bad("invalid authority in the target");
  }
  return ParsePathAndQuery(rest.substr(end));
}

auto Uri::ParsePathAndQuery(std::string_view text) -> HeadFault {
  std::size_t end = 0;
  bool rewrite = false;
  char before = '\0';
  for (; end < text.size() && text[end] != '?'; ++end) {
    const char c = text[end];
    if (c == '\\') {
      return Bad("backslash in the path");
    }
    if (c == '#') {
      return Bad("fragment in the target");
    }
    rewrite = rewrite || c == '%' || (before == '/' && (c == '/' || c == '.'));
    before = c;
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
  rewritten_ = "/";  // it always ends with a slash here, except behind the last segment
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
