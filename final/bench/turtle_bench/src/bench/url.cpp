#include "bench/url.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>
#include <system_error>

#include "base/ascii.h"

namespace TURTLE_SERVER {

namespace {

struct Scheme {
  std::string_view text;
  std::uint16_t port;
  bool secure;
};

constexpr std::array<Scheme, 2> kSchemes = {{{"http://", 80, false}, {"https://", 443, true}}};

[[noreturn]] void Refuse(const std::string& why) { throw std::invalid_argument(why); }

auto ParsePort(std::string_view text) -> std::uint16_t {
  std::uint16_t port = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, port);
  if (error != std::errc() || stop != end || port == 0) {
    Refuse("the port '" + std::string(text) + "' is not a number from 1 to 65535");
  }
  return port;
}

auto SchemeOf(std::string_view text) -> const Scheme& {
  for (const Scheme& each : kSchemes) {
    if (ascii::EqualIgnoreCase(text.substr(0, each.text.size()), each.text)) {
      return each;
    }
  }
  const std::size_t colon = text.find("://");
  if (colon == std::string_view::npos) {
    Refuse("it does not begin with http:// or https://");
  }
  Refuse("'" + std::string(text.substr(0, colon)) + "' is not supported, only http and https are");
}

// The target goes into a request line unchanged, so it must contain nothing that ends the line or
// its middle word.
void CheckTarget(std::string_view target) {
  const bool visible =
      std::all_of(target.begin(), target.end(), [](char c) { return c > ' ' && c < '\x7f'; });
  if (!visible) {
    Refuse("a space or another character that is no visible ASCII has to be written as %20");
  }
  if (target.find('#') != std::string_view::npos) {
    Refuse("a fragment ('#...') is never sent to a server, leave it away");
  }
}

// Splits host and port; `authority` is the part between "//" and the path.
void SplitAuthority(std::string_view authority, std::uint16_t default_port, Url& url) {
  if (authority.find('@') != std::string_view::npos) {
    Refuse("a user name ('...@') is not supported");
  }
  std::string_view rest;
  if (!authority.empty() && authority.front() == '[') {
    const std::size_t bracket = authority.find(']');
    if (bracket == std::string_view::npos) {
      Refuse("the ']' of the IPv6 address is missing");
    }
    url.host = authority.substr(1, bracket - 1);
    if (url.host.find(':') == std::string::npos) {
      Refuse("'" + url.host + "' in brackets is not an IPv6 address");
    }
    rest = authority.substr(bracket + 1);
  } else {
    const std::size_t colon = authority.find(':');
    url.host = authority.substr(0, colon);
    rest = authority.substr(std::min(colon, authority.size()));
    if (rest.find(':', 1) != std::string_view::npos) {
      Refuse("an IPv6 address needs brackets");
    }
  }
  if (url.host.empty()) {
    Refuse("the host is missing");
  }
  url.authority = authority.substr(0, authority.size() - rest.size());
  if (!rest.empty() && rest.front() != ':') {
    Refuse("'" + std::string(rest) + "' after the address is not a port");
  }
  url.port = rest.empty() ? default_port : ParsePort(rest.substr(1));
  if (url.port != default_port) {
    url.authority += ":" + std::to_string(url.port);
  }
}

}  // namespace

auto ParseUrl(std::string_view text) -> Url {
  const Scheme& scheme = SchemeOf(text);
  text.remove_prefix(scheme.text.size());
  const std::size_t end = std::min(text.find_first_of("/?#"), text.size());
  const std::string_view target = text.substr(end);
  CheckTarget(text);
  Url url;
  url.secure = scheme.secure;
  SplitAuthority(text.substr(0, end), scheme.port, url);
  url.target = target.empty() || target.front() != '/' ? "/" : "";
  url.target += target;
  return url;
}

}  // namespace TURTLE_SERVER
