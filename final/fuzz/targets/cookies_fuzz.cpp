// Cookies. Each line of the input is a Cookie field, which must be read as the reference reads it.
// Its first cookie is set, with the second one's name and value as its path and domain. If that is
// not refused, it has the requested attributes and no others, and comes back unchanged.
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "http/cookies.h"
#include "http/response.h"
#include "reference/cookies.h"
#include "reference/text.h"
#include "targets/check.h"

namespace TURTLE_SERVER::fuzz {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

auto Describe(const Pairs& pairs) -> std::string {
  std::string text;
  for (const auto& [name, value] : pairs) {
    text.append(name).append("=").append(value).append("\n");
  }
  return text;
}

auto Read(const std::vector<std::string_view>& values) -> Pairs {
  Headers fields;
  for (const std::string_view value : values) {
    fields.Add("Cookie", value);
  }
  Cookies cookies;
  CookieLimits limits;
  limits.max_cookies = SIZE_MAX;
  if (cookies.Parse(fields, limits)) {
    Fail("cookies are refused");
  }
  Pairs pairs;
  for (const Cookie& cookie : cookies) {
    pairs.emplace_back(cookie.name, cookie.value);
  }
  return pairs;
}

// True if `set` accepts its argument.
template <typename Set>
auto Accepts(Set set) -> bool {
  try {
    set();
    return true;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

void Check(const std::string& name, const std::string& value, const std::string& path,
           const std::string& domain) {
  std::optional<SetCookie> cookie;
  Same("may be set", Accepts([&] { cookie.emplace(name, value); }),
       reference::MayBeSet(name, value));
  if (!cookie) {
    return;
  }
  std::string expected = name + "=" + value;
  if (Accepts([&] { cookie->Path(path); })) {
    expected += "; Path=" + path;
  }
  if (Accepts([&] { cookie->Domain(domain); })) {
    expected += "; Domain=" + domain;
  }
  cookie->Secure().HttpOnly();
  std::string text;
  if (!Accepts([&] { text = cookie->Text(); })) {
    return;  // a prefix of the name
  }
  Same("Set-Cookie", text, expected + "; Secure; HttpOnly");
  Response(200).Add("Set-Cookie", text);
  const Pairs back = Read({std::string_view(text).substr(0, text.find(';'))});
  Same("comes back", Describe(back), name + "=" + value + "\n");
}

}  // namespace
}  // namespace TURTLE_SERVER::fuzz

extern "C" auto LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) -> int {
  using namespace TURTLE_SERVER;
  const auto lines = reference::Split(fuzz::TextOf(data, size), "\n");
  const fuzz::Pairs pairs = fuzz::Read(lines);
  fuzz::Same("cookies", fuzz::Describe(pairs), fuzz::Describe(reference::ReadCookies(lines)));
  if (pairs.size() > 1) {
    fuzz::Check(pairs[0].first, pairs[0].second, pairs[1].first, pairs[1].second);
    fuzz::Check(pairs[0].first, pairs[0].second, pairs[1].second, pairs[1].first);
  }
  return 0;
}
