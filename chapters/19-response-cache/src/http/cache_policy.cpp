#include "http/cache_policy.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "http/headers.h"

namespace TURTLE_SERVER {

namespace {

using std::chrono::seconds;

constexpr seconds kForEver{CacheAsk::kMaxSpan};

// The statuses that may be kept without explicit permission (RFC 9110, section 15.1). 206 is a
// part, and this cache does not combine parts.
constexpr std::array<int, 11> kKeptByItself{200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501};

// Further statuses that this cache knows how to keep (RFC 9111, section 5.2.2.3).
constexpr std::array<int, 8> kAlsoUnderstood{302, 303, 307, 400, 403, 500, 502, 503};

template <std::size_t kCount>
auto Holds(const std::array<int, kCount>& all, int status) -> bool {
  return std::find(all.begin(), all.end(), status) != all.end();
}

// Returns the byte that "%41" stands for; -1 if `text` does not begin with an escape.
auto EncodedByte(std::string_view text) -> int {
  if (text.size() < 3 || text[0] != '%') {
    return -1;
  }
  const int high = ascii::HexValue(text[1]);
  const int low = ascii::HexValue(text[2]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

// True for characters that never need percent-encoding (RFC 3986, section 2.3).
auto IsUnreserved(int byte) -> bool {
  const char c = static_cast<char>(byte);
  return ascii::IsLetter(c) || ascii::IsDigit(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

// True for a delimiter (RFC 3986, section 2.2), which it is unless encoded.
auto IsReserved(int byte) -> bool {
  return std::string_view(":/?#[]@!$&'()*+,;=").find(static_cast<char>(byte)) !=
         std::string_view::npos;
}

auto IsAny(int /*byte*/) -> bool { return true; }

auto HasEncoded(std::string_view text, bool (*kind)(int byte)) -> bool {
  for (std::size_t at = text.find('%'); at < text.size(); at = text.find('%', at + 1)) {
    const int byte = EncodedByte(text.substr(at));
    if (byte >= 0 && kind(byte)) {
      return true;
    }
  }
  return false;
}

// Appends `text` in its simplest equivalent form (RFC 3986, section 6.2.2).
void AppendPlainly(std::string_view text, std::string& to) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int byte = EncodedByte(text.substr(i));
    if (byte < 0) {
      to += text[i];
      continue;
    }
    if (IsUnreserved(byte)) {
      to += static_cast<char>(byte);
    } else {
      to += '%';
      to += kDigits[static_cast<std::size_t>(byte) / 16];
      to += kDigits[static_cast<std::size_t>(byte) % 16];
    }
    i += 2;
  }
}

// Makes "a.example" of "a.example:80" and "a.example:" (RFC 9110, section 4.2.3).
auto WithoutDefaultPort(const Request& request) -> std::string_view {
  const std::string_view host = request.host;
  const std::size_t colon = host.rfind(':');
  if (colon == std::string_view::npos || host.find(']', colon) != std::string_view::npos) {
    return host;
  }
  const bool is_https = ascii::EqualIgnoreCase(request.target.substr(0, 6), "https:");
  std::string_view port = host.substr(colon + 1);
  port.remove_prefix(std::min(port.find_first_not_of('0'), port.size()));
  return port.empty() || port == (is_https ? "443" : "80") ? host.substr(0, colon) : host;
}

// One directive of Cache-Control (RFC 9111, section 5.2).
struct Directive {
  std::string_view name;
  std::string_view value;  // without its quotes; "": none
};

// Returns the end of a list element: its comma, but not a comma within quotes.
auto ElementEnd(std::string_view list) -> std::size_t {
  bool quoted = false;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] == '"') {
      quoted = !quoted;
    } else if (quoted && list[i] == '\\') {
      ++i;
    } else if (!quoted && list[i] == ',') {
      return i;
    }
  }
  return list.size();
}

auto TakeDirective(std::string_view& rest) -> Directive {
  const std::size_t end = ElementEnd(rest);
  const std::string_view element = ascii::TrimOws(rest.substr(0, end));
  rest.remove_prefix(std::min(end + 1, rest.size()));
  const std::size_t equals = element.find('=');
  if (equals == std::string_view::npos) {
    return {element, {}};
  }
  std::string_view value = element.substr(equals + 1);
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
    value = value.substr(1, value.size() - 2);
  }
  return {element.substr(0, equals), value};
}

// Parses a number of seconds, at most kForEver; nullopt: it is not a number.
auto ParseSpan(std::string_view digits) -> std::optional<seconds> {
  std::int64_t count = 0;
  for (const char c : digits) {
    if (!ascii::IsDigit(c)) {
      return std::nullopt;
    }
    count = std::min(count * 10 + (c - '0'), CacheAsk::kMaxSpan);
  }
  return digits.empty() ? std::nullopt : std::optional(seconds(count));
}

auto Is(const Directive& directive, std::string_view name) -> bool {
  return ascii::EqualIgnoreCase(directive.name, name);
}

void Heed(const Directive& directive, CacheAsk& ask) {
  if (Is(directive, "no-store")) {
    ask.use = CacheUse::kNone;
  } else if (Is(directive, "no-cache")) {
    ask.wants_new = true;
  } else if (Is(directive, "only-if-cached")) {
    ask.only_if_cached = true;
  } else if (Is(directive, "max-age")) {  // an invalid number asks for the strictest
    ask.max_age = std::min(ask.max_age, ParseSpan(directive.value).value_or(seconds(0)));
  } else if (Is(directive, "min-fresh")) {
    ask.min_fresh = std::max(ask.min_fresh, ParseSpan(directive.value).value_or(kForEver));
  }  // max-stale: nothing stale is ever sent
}

// The Cache-Control of a response.
struct ReplyDirectives {
  bool no_store = false;
  bool forbidden = false;  // private, or no-cache: it would have to be validated
  bool is_public = false;
  bool must_understand = false;
  std::optional<seconds> max_age;
  std::optional<seconds> s_maxage;
};

// The first of several counts; an invalid number means "stale" (RFC 9111, section 4.2.1).
void SetSpan(std::string_view value, std::optional<seconds>& span) {
  if (!span) {
    span = ParseSpan(value).value_or(seconds(0));
  }
}

void Heed(const Directive& directive, ReplyDirectives& said) {
  if (Is(directive, "no-store")) {
    said.no_store = true;
  } else if (Is(directive, "private") || Is(directive, "no-cache")) {
    said.forbidden = true;  // even if it names only some fields: to forbid more is allowed
  } else if (Is(directive, "public")) {
    said.is_public = true;
  } else if (Is(directive, "must-understand")) {
    said.must_understand = true;
  } else if (Is(directive, "s-maxage")) {
    SetSpan(directive.value, said.s_maxage);
  } else if (Is(directive, "max-age")) {
    SetSpan(directive.value, said.max_age);
  }
}

template <typename Said>
void HeedAll(std::string_view list, Said& said) {
  while (!list.empty()) {
    Heed(TakeDirective(list), said);
  }
}

// Evaluates Expires; an invalid date is in the past (RFC 9111, section 5.3).
auto SpanOfExpires(const ReplyFields& fields, HttpTime now) -> std::optional<seconds> {
  const auto expires = fields.Find("Expires");
  if (!expires) {
    return std::nullopt;
  }
  const auto end = ParseHttpDate(*expires, now);
  const auto date = ParseHttpDate(fields.Find("Date").value_or(""), now);
  return end ? std::clamp(*end - date.value_or(now), seconds(0), kForEver) : seconds(0);
}

// @return false: it varies by something that is not in the request, or by too much
auto ReadVary(const ReplyFields& fields, std::vector<std::string>& names) -> bool {
  bool readable = true;
  fields.ForEach("Vary", [&](std::string_view rest) {
    while (!rest.empty()) {
      const std::string_view element = TakeListElement(rest);
      if (!std::all_of(element.begin(), element.end(), ascii::IsToken) || element == "*") {
        readable = false;
      } else if (!element.empty()) {
        std::string& name = names.emplace_back(element);
        std::transform(name.begin(), name.end(), name.begin(), ascii::ToLower);
      }
    }
  });
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return readable && names.size() <= Keeping::kMaxVaryNames;
}

auto MayBeKept(int status, const ReplyDirectives& said, bool speaks) -> bool {
  const bool by_itself = Holds(kKeptByItself, status);
  const bool understood = by_itself || Holds(kAlsoUnderstood, status);
  if (status < 200 || status == 206 || status == 304 || said.forbidden) {
    return false;
  }
  if (said.must_understand ? !understood : said.no_store) {
    return false;
  }
  return by_itself || speaks;
}

}  // namespace

auto AskOf(const Request& request) -> CacheAsk {
  CacheAsk ask;
  const Headers& fields = request.headers;
  const bool reads = request.method == Method::kGet || request.method == Method::kHead;
  if (!reads || request.framing.HasBody() || fields.Has(KnownField::kAuthorization) ||
      fields.Has(KnownField::kRange) || fields.Has(KnownField::kIfMatch) ||
      fields.Has(KnownField::kIfUnmodifiedSince)) {
    return ask;
  }
  ask.has_cookie = fields.Has(KnownField::kCookie);
  // Another request's response would fit none of these: that of HEAD has no body, that of a
  // conditional request perhaps none either, and a cookie may change it.
  const bool alone =
      request.method == Method::kHead || ask.has_cookie || fields.Has(KnownField::kIfNoneMatch) ||
      fields.Has(KnownField::kIfModifiedSince) || fields.Has(KnownField::kCacheControl);
  ask.use = alone ? CacheUse::kAlone : CacheUse::kShared;
  fields.ForEach(KnownField::kCacheControl, [&ask](std::string_view list) { HeedAll(list, ask); });
  return ask;
}

auto Invalidates(Method method) noexcept -> bool {
  return method != Method::kGet && method != Method::kHead && method != Method::kOptions &&
         method != Method::kTrace;
}

auto KeepingOf(int status, const ReplyFields& fields, seconds default_ttl, HttpTime now)
    -> Keeping {
  Keeping keeping;
  ReplyDirectives said;
  fields.ForEach("Cache-Control", [&said](std::string_view list) { HeedAll(list, said); });
  std::optional<seconds> span = said.s_maxage ? said.s_maxage : said.max_age;
  if (!span) {
    span = SpanOfExpires(fields, now);
  }
  const bool speaks = span || said.is_public;
  if (!MayBeKept(status, said, speaks) || fields.Find("Set-Cookie") ||
      !ReadVary(fields, keeping.vary)) {
    return keeping;
  }
  keeping.age = ParseSpan(fields.Find("Age").value_or("")).value_or(seconds(0));
  keeping.lifetime = span.value_or(default_ttl) - keeping.age;
  keeping.allowed = keeping.lifetime > seconds(0);
  keeping.for_cookies =
      speaks || std::binary_search(keeping.vary.begin(), keeping.vary.end(), "cookie");
  return keeping;
}

void AppendTargetKey(const Request& request, std::string& key) {
  const std::size_t host = key.size();
  AppendPlainly(WithoutDefaultPort(request), key);
  std::transform(key.begin() + static_cast<std::ptrdiff_t>(host), key.end(),
                 key.begin() + static_cast<std::ptrdiff_t>(host), ascii::ToLower);
  key.append(" ").append(request.uri.Path());
  if (!request.uri.Query().empty()) {
    key.append("?");
    AppendPlainly(request.uri.Query(), key);
  }
}

void AppendCacheKey(const Request& request, std::string& key) {
  AppendTargetKey(request, key);
  const Uri& uri = request.uri;
  const bool path_says_more = HasEncoded(uri.RawPath(), IsReserved);
  const bool query_says_more =
      uri.HasQuery() && (uri.Query().empty() || HasEncoded(uri.Query(), IsAny));
  if (path_says_more || query_says_more) {
    key.append("\n").append(path_says_more ? uri.RawPath() : std::string_view());
    key.append(uri.HasQuery() ? "?" : "").append(uri.Query());
  }
}

void AppendVariant(const std::vector<std::string>& names, const Request& request,
                   std::string& key) {
  for (const std::string& name : names) {
    key.append("\n").append(name);
    request.headers.ForEach(name,
                            [&key](std::string_view value) { key.append(",").append(value); });
  }
}

}  // namespace TURTLE_SERVER
