#include "reference/cookies.h"

#include "reference/text.h"

namespace TURTLE_SERVER::reference {

namespace {

// cookie-octet = %x21 / %x23-2B / %x2D-3A / %x3C-5B / %x5D-7E
auto IsCookieOctet(char c) -> bool {
  return c == 0x21 || (c >= 0x23 && c <= 0x2B) || (c >= 0x2D && c <= 0x3A) ||
         (c >= 0x3C && c <= 0x5B) || (c >= 0x5D && c <= 0x7E);
}

}  // namespace

auto ReadCookies(const std::vector<std::string_view>& values)
    -> std::vector<std::pair<std::string, std::string>> {
  std::vector<std::pair<std::string, std::string>> cookies;
  for (const std::string_view list : values) {
    for (const std::string_view pair : Split(list, ";")) {
      const std::vector<std::string_view> pieces = Split(pair, "=");
      const std::string_view name = Trim(pieces[0]);
      if (pieces.size() > 1 && !name.empty()) {
        cookies.emplace_back(name, Trim(pair.substr(pieces[0].size() + 1)));
      }
    }
  }
  return cookies;
}

auto MayBeSet(std::string_view name, std::string_view value) -> bool {
  // cookie-value = *cookie-octet / ( DQUOTE *cookie-octet DQUOTE )
  std::string octets(value);
  if (octets.size() > 1 && octets.front() == '"' && octets.back() == '"') {
    octets = octets.substr(1, octets.size() - 2);
  }
  return IsAll(name, IsTchar) && (octets.empty() || IsAll(octets, IsCookieOctet)) &&
         name.size() + value.size() <= 4096;
}

}  // namespace TURTLE_SERVER::reference
