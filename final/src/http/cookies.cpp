#include "http/cookies.h"

#include <algorithm>
#include <stdexcept>

#include "base/ascii.h"

namespace TURTLE_SERVER {

namespace {

// The limits of browsers (RFC 6265bis, section 5.6).
constexpr std::size_t kMaxPairBytes = 4096;
constexpr std::size_t kMaxAttributeBytes = 1024;

// cookie-octet (RFC 6265, section 4.1.1)
auto IsCookieOctet(char c) -> bool {
  return c > ' ' && c < '\x7f' && c != '"' && c != ',' && c != ';' && c != '\\';
}

auto IsCookieValue(std::string_view value) -> bool {
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
    value = value.substr(1, value.size() - 2);
  }
  return std::all_of(value.begin(), value.end(), IsCookieOctet);
}

[[noreturn]] void Refuse(const std::string& what) {
  throw std::invalid_argument("Set-Cookie: " + what);
}

auto BeginsWith(std::string_view text, std::string_view prefix) -> bool {
  return ascii::EqualIgnoreCase(text.substr(0, prefix.size()), prefix);
}

auto TextOf(SameSitePolicy policy) -> std::string_view {
  switch (policy) {
    case SameSitePolicy::kStrict:
      return "Strict";
    case SameSitePolicy::kLax:
      return "Lax";
    case SameSitePolicy::kNone:
      break;
  }
  return "None";
}

}  // namespace

auto Cookies::Parse(const Headers& fields, const CookieLimits& limits) -> HeadFault {
  Clear();
  HeadFault fault;
  fields.ForEach(KnownField::kCookie, [&](std::string_view list) {
    if (!fault) {
      fault = Add(list, limits);
    }
  });
  if (fault) {
    Clear();
  }
  return fault;
}

auto Cookies::Add(std::string_view list, const CookieLimits& limits) -> HeadFault {
  while (!list.empty()) {
    const std::string_view pair = list.substr(0, list.find(';'));
    list.remove_prefix(std::min(pair.size() + 1, list.size()));
    const std::size_t equals = pair.find('=');
    const std::string_view name = ascii::TrimOws(pair.substr(0, equals));
    if (equals == std::string_view::npos || name.empty()) {
      continue;  // a cookie without a name: no handler can look it up
    }
    if (cookies_.size() == limits.max_cookies) {
      return {431, "too many cookies"};
    }
    cookies_.push_back({name, ascii::TrimOws(pair.substr(equals + 1))});
  }
  return {};
}

auto Cookies::Find(std::string_view name) const -> std::optional<std::string_view> {
  for (const Cookie& cookie : cookies_) {
    if (cookie.name == name) {
      return cookie.value;
    }
  }
  return std::nullopt;
}

SetCookie::SetCookie(std::string_view name, std::string_view value) : name_bytes_(name.size()) {
  if (name.empty() || !std::all_of(name.begin(), name.end(), ascii::IsToken)) {
    Refuse("the name is not a token");
  }
  if (!IsCookieValue(value)) {
    Refuse("a character that no value may have, in " + std::string(name));
  }
  if (name.size() + value.size() > kMaxPairBytes) {
    Refuse("more than 4096 bytes, in " + std::string(name));
  }
  pair_.append(name).append("=").append(value);
}

auto SetCookie::Path(std::string_view path) -> SetCookie& {
  const bool is_text = std::all_of(path.begin(), path.end(),
                                   [](char c) { return c >= ' ' && c < '\x7f' && c != ';'; });
  // A browser trims the value, so a space at its end would make it a different path.
  if (path.empty() || path.front() != '/' || path.back() == ' ' || !is_text ||
      path.size() > kMaxAttributeBytes) {
    Refuse("the path does not begin with '/', or has a character that no path may have");
  }
  path_ = path;
  return *this;
}

auto SetCookie::Domain(std::string_view domain) -> SetCookie& {
  const bool is_name = std::all_of(domain.begin(), domain.end(), [](char c) {
    return ascii::IsLetter(c) || ascii::IsDigit(c) || c == '-' || c == '.';
  });
  if (domain.empty() || domain.front() == '.' || domain.back() == '.' || !is_name ||
      domain.size() > kMaxAttributeBytes) {
    Refuse("the domain is not a host name");
  }
  domain_ = domain;
  return *this;
}

auto SetCookie::MaxAge(std::chrono::seconds age) -> SetCookie& {
  max_age_ = std::max(age, std::chrono::seconds(0));
  return *this;
}

auto SetCookie::Expires(HttpTime time) -> SetCookie& {
  expires_ = time;
  return *this;
}

auto SetCookie::Secure() -> SetCookie& {
  secure_ = true;
  return *this;
}

auto SetCookie::HttpOnly() -> SetCookie& {
  http_only_ = true;
  return *this;
}

auto SetCookie::SameSite(SameSitePolicy policy) -> SetCookie& {
  same_site_ = policy;
  return *this;
}

auto SetCookie::Partitioned() -> SetCookie& {
  partitioned_ = true;
  return *this;
}

// Returns why a browser would drop the cookie, or nullptr (RFC 6265bis, section 4.1.3).
auto SetCookie::Contradiction() const -> const char* {
  const std::string_view name = std::string_view(pair_).substr(0, name_bytes_);
  const bool is_of_host = BeginsWith(name, "__Host-");
  const bool is_hidden = BeginsWith(name, "__Http-") || BeginsWith(name, "__Host-Http-");
  const bool has_secure_name = is_of_host || is_hidden || BeginsWith(name, "__Secure-");
  if (!secure_) {
    if (has_secure_name) {
      return "the prefix of the name requires Secure";
    }
    if (same_site_ == SameSitePolicy::kNone) {
      return "SameSite=None requires Secure";
    }
    if (partitioned_) {
      return "Partitioned requires Secure";
    }
  }
  if (is_of_host && (path_ != "/" || !domain_.empty())) {
    return "the prefix of the name requires Path=/ and no Domain";
  }
  return is_hidden && !http_only_ ? "the prefix of the name requires HttpOnly" : nullptr;
}

auto SetCookie::Text() const -> std::string {
  if (const char* wrong = Contradiction(); wrong != nullptr) {
    Refuse(std::string(wrong) + ", in " + pair_.substr(0, name_bytes_));
  }
  std::string text = pair_;
  const auto add = [&](std::string_view attribute, std::string_view value) {
    text.append("; ").append(attribute).append(value);
  };
  if (!path_.empty()) {
    add("Path=", path_);
  }
  if (!domain_.empty()) {
    add("Domain=", domain_);
  }
  if (max_age_) {
    add("Max-Age=", std::to_string(max_age_->count()));
  }
  if (expires_) {
    add("Expires=", {});
    AppendHttpDate(*expires_, text);
  }
  if (secure_) {
    add("Secure", {});
  }
  if (http_only_) {
    add("HttpOnly", {});
  }
  if (same_site_) {
    add("SameSite=", TextOf(*same_site_));
  }
  if (partitioned_) {
    add("Partitioned", {});
  }
  return text;
}

}  // namespace TURTLE_SERVER
