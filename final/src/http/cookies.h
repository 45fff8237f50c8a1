// Cookies: what a client sends back, and how it is asked to keep one (RFC 6265; later attributes
// and the prefixes of names are from its revision, draft-ietf-httpbis-rfc6265bis).
//
//     Set-Cookie: __Host-id=31d4d96e; Path=/; Secure; HttpOnly; SameSite=Lax
//     Cookie: __Host-id=31d4d96e; theme=dark
//
// Interface:
//  * Cookies reads the Cookie field; Find() and ForEach() look names up.
//  * SetCookie is the value of one Set-Cookie field: response.Add("Set-Cookie", cookie.Text()).
//
// Reading is forgiving. A browser sends the cookies of a whole domain, even other people's, so an
// odd one must not cost the others: it is skipped, or taken as it is. Quotes mean nothing here.
// Servers that let a quoted value contain a ';' can be made to read one cookie into the next, which
// is how some cookies that no script may see were stolen.
//
// Writing is strict. A cookie that a browser would silently drop is refused where it is
// written, by an exception. So is text from a client that would start an attribute or another
// field.
//
// Thread: like a std::vector and a std::string, one thread at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/head_fault.h"
#include "http/headers.h"
#include "http/http_date.h"

namespace TURTLE_SERVER {

/// One cookie that a client has sent.
struct Cookie {
  std::string_view name;   ///< Never empty.
  std::string_view value;  ///< As sent, quotes included; may be empty.
};

/// Limits how many cookies are accepted. The limit of the head bounds their size.
struct CookieLimits {
  std::size_t max_cookies = 256;  ///< The most that are accepted; browsers keep fewer for a site.
};

/// The cookies of one request.
class Cookies {
 public:
  /// Reads the Cookie fields of a request, replacing earlier ones. There should be one field;
  /// several count as if they were joined, since a proxy may have split it.
  /// @param fields of the request; their bytes must outlive the returned views
  /// @param limits how many cookies are accepted
  /// @return no fault, or 431: too many cookies; then there are none
  auto Parse(const Headers& fields, const CookieLimits& limits = {}) -> HeadFault;

  /// Drops all cookies and keeps the memory.
  void Clear() noexcept { cookies_.clear(); }

  /// Returns the value of the first cookie named exactly `name`; nullopt if there is none. Of two
  /// with the same name, browsers send the one with the longer path first, and a neighbour in the
  /// domain may have set it: only the prefixes "__Host-" and "__Host-Http-" rule that out.
  [[nodiscard]] auto Find(std::string_view name) const -> std::optional<std::string_view>;

  /// Calls `visit(std::string_view value)` for each cookie named exactly `name`, in order.
  template <class Visit>
  void ForEach(std::string_view name, Visit&& visit) const {
    for (const Cookie& cookie : cookies_) {
      if (cookie.name == name) {
        visit(cookie.value);
      }
    }
  }

  /// Returns the number of cookies.
  [[nodiscard]] auto Size() const noexcept -> std::size_t { return cookies_.size(); }

  /// Returns the first cookie, for range-based loops.
  [[nodiscard]] auto begin() const noexcept { return cookies_.begin(); }

  /// Returns the end of the cookies.
  [[nodiscard]] auto end() const noexcept { return cookies_.end(); }

 private:
  auto Add(std::string_view list, const CookieLimits& limits) -> HeadFault;

  std::vector<Cookie> cookies_;
};

/// Which requests caused by other sites a cookie is sent with.
enum class SameSitePolicy : std::uint8_t {
  kStrict,  ///< None.
  kLax,     ///< Following a link only.
  kNone,    ///< All; requires Secure.
};

/// A cookie that a client is asked to keep. Every function that takes a value throws
/// std::invalid_argument, and changes nothing, if the value can't be in the field.
class SetCookie {
 public:
  /// @param name a token: no space, no separator, not empty
  /// @param value visible ASCII except quotes, comma, semicolon and backslash; one pair of quotes
  ///     may surround it, and is part of it. Encode anything else, by Base64 for example. Name and
  ///     value have 4096 bytes at most, otherwise a browser drops them.
  SetCookie(std::string_view name, std::string_view value);

  /// Limits the cookie to requests for `path` and below it; without it, those below the directory
  /// of the request. This keeps nothing secret: pages of one host can read each other's.
  /// @param path begins with '/'; no control character, no ';', nothing beyond ASCII; at most 1024
  ///     bytes
  /// @return this
  auto Path(std::string_view path) -> SetCookie&;

  /// Sends the cookie to all hosts in `domain`; without it, only to the host that sets it.
  /// @param domain a name without a port and without a dot at either end; at most 1024 bytes
  /// @return this
  auto Domain(std::string_view domain) -> SetCookie&;

  /// Sets how long it is kept; 0 or less: the client drops it now, which takes the same Path and
  /// Domain as when it was set. Without this and Expires() it is dropped when the browser closes.
  auto MaxAge(std::chrono::seconds age) -> SetCookie&;

  /// Sets until when it is kept, for clients without Max-Age; if both are set, Max-Age counts.
  auto Expires(HttpTime time) -> SetCookie&;

  /// Never sends it over a connection that is not encrypted.
  auto Secure() -> SetCookie&;

  /// Hides it from scripts.
  auto HttpOnly() -> SetCookie&;

  /// Sets whether requests caused by other sites get it.
  auto SameSite(SameSitePolicy policy) -> SetCookie&;

  /// Keeps it separately for each site that embeds this one; requires Secure.
  auto Partitioned() -> SetCookie&;

  /// Returns the value of the Set-Cookie field. Throws std::invalid_argument if browsers would not
  /// keep the cookie. They drop SameSite=None or Partitioned without Secure. Prefixes, in any case,
  /// have demands: "__Secure-" needs Secure; "__Host-" needs Secure and "Path=/", and no Domain;
  /// "__Http-" needs Secure and HttpOnly; "__Host-Http-" needs both of these.
  [[nodiscard]] auto Text() const -> std::string;

 private:
  [[nodiscard]] auto Contradiction() const -> const char*;

  std::string pair_;  // "name=value"
  std::size_t name_bytes_;
  std::string path_;    // "": none
  std::string domain_;  // "": none
  std::optional<std::chrono::seconds> max_age_;
  std::optional<HttpTime> expires_;
  std::optional<SameSitePolicy> same_site_;
  bool secure_ = false;
  bool http_only_ = false;
  bool partitioned_ = false;
};

}  // namespace TURTLE_SERVER
