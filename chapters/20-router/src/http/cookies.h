// Cookies: what a client sends back, and how it is asked to keep one (RFC 6265; the attributes that
// came later, and the prefixes of names, as in its revision, draft-ietf-httpbis-rfc6265bis).
//
//     Set-Cookie: __Host-id=31d4d96e; Path=/; Secure; HttpOnly; SameSite=Lax
//     Cookie: __Host-id=31d4d96e; theme=dark
//
// Interface:
//  * Cookies reads the Cookie field; Find() and ForEach() look names up.
//  * SetCookie is the value of one Set-Cookie field: response.Add("Set-Cookie", cookie.Text()).
//
// Reading forgives what it can. A browser sends the cookies of a whole domain, other people's among
// them, so one that is odd must not cost the others: it is passed over, or taken as it is. Quotes
// mean nothing here. Servers that let a quoted value hold a ';' can be brought to read one cookie
// into the next, which is how some that no script may see were stolen.
//
// Writing forgives nothing. A cookie that a browser would silently drop is refused where it is
// written, by an exception. So is text from a client that would start an attribute, or another
// field.
//
// Thread: as a std::vector and a std::string: one thread at a time.
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
  std::string_view value;  ///< As it was sent, quotes included; may be empty.
};

/// How many cookies are accepted. Their size is bounded by the limit of the head.
struct CookieLimits {
  std::size_t max_cookies = 256;  ///< So many are still accepted; browsers keep fewer for a site.
};

/// The cookies of one request.
class Cookies {
 public:
  /// Reads the Cookie fields of a request in place of what was read before. There should be one;
  /// several count as if they were joined, since a proxy may have divided it.
  /// @param fields of the request; their bytes must outlive the views given out
  /// @param limits how many cookies are accepted
  /// @return no fault, or 431: too many cookies; there is none then
  auto Parse(const Headers& fields, const CookieLimits& limits = {}) -> HeadFault;

  /// Forgets all cookies and keeps the memory.
  void Clear() noexcept { cookies_.clear(); }

  /// The value of the first cookie named exactly `name`; nullopt if there is none. Of two with the
  /// same name browsers send the one with the longer path first, and a neighbour in the domain may
  /// have set it: only the prefixes "__Host-" and "__Host-Http-" exclude that.
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

  /// How many cookies there are.
  [[nodiscard]] auto Size() const noexcept -> std::size_t { return cookies_.size(); }

  /// The first cookie, for range-based loops.
  [[nodiscard]] auto begin() const noexcept { return cookies_.begin(); }

  /// Past the last cookie.
  [[nodiscard]] auto end() const noexcept { return cookies_.end(); }

 private:
  auto Add(std::string_view list, const CookieLimits& limits) -> HeadFault;

  std::vector<Cookie> cookies_;
};

/// Which requests that other sites cause a cookie is sent with.
enum class SameSitePolicy : std::uint8_t {
  kStrict,  ///< None.
  kLax,     ///< Following a link only.
  kNone,    ///< All; wants Secure.
};

/// A cookie that a client is asked to keep. Every function that takes a value throws
/// std::invalid_argument, and changes nothing, for one that can't be in the field.
class SetCookie {
 public:
  /// @param name a token: no space, no separator, not empty
  /// @param value visible ASCII but for quotes, comma, semicolon and backslash; one pair of quotes
  ///     may stand around it, and belongs to it. Encode anything else, by Base64 for example. Name
  ///     and value have 4096 bytes at most, else a browser drops them.
  SetCookie(std::string_view name, std::string_view value);

  /// Only requests for `path` and below it get the cookie; without one, those below the directory
  /// of the request. It keeps nothing secret: pages of one host can read each other's.
  /// @param path begins with '/'; no control character, no ';', nothing beyond ASCII; at most 1024
  ///     bytes
  /// @return this
  auto Path(std::string_view path) -> SetCookie&;

  /// All hosts in `domain` get the cookie; without it, only the one that sets it.
  /// @param domain a name without a port and without a dot at either end; at most 1024 bytes
  /// @return this
  auto Domain(std::string_view domain) -> SetCookie&;

  /// How long it is kept; 0 or less: it is to be forgotten now, which takes the same Path and
  /// Domain as when it was set. Without this and Expires() it goes when the browser is closed.
  auto MaxAge(std::chrono::seconds age) -> SetCookie&;

  /// Until when it is kept, for clients that know no Max-Age; where both are, Max-Age counts.
  auto Expires(HttpTime time) -> SetCookie&;

  /// Never sent over a connection that is not encrypted.
  auto Secure() -> SetCookie&;

  /// Hidden from scripts.
  auto HttpOnly() -> SetCookie&;

  /// Whether requests that other sites cause get it.
  auto SameSite(SameSitePolicy policy) -> SetCookie&;

  /// Kept for each site apart, within which this one is embedded; wants Secure.
  auto Partitioned() -> SetCookie&;

  /// The value of the Set-Cookie field. Throws std::invalid_argument when browsers would not keep
  /// the cookie. They drop SameSite=None or Partitioned without Secure. Prefixes of names have
  /// demands, too, in any case: "__Secure-" needs Secure; "__Host-" needs Secure and "Path=/", and
  /// no Domain; "__Http-" needs Secure and HttpOnly; "__Host-Http-" needs what both of these need.
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
