// A shared cache's rules for a request and its response (RFC 9111), as pure functions.
//
// Interface:
//  * AskOf() decides what a cache may do for a request.
//  * KeepingOf() decides if a response may be kept, how long it is fresh, and what it varies by.
//  * AppendCacheKey() and AppendVariant() write the key of a kept response; all keys of one target
//    begin with AppendTargetKey().
//
// The cache is in front of one server's handlers, and can't ask them whether an old response is
// still good. So a response that would have to be validated first is not kept.
//
// Thread: pure functions.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/http_date.h"
#include "http/reply_fields.h"
#include "http/request.h"

namespace TURTLE_SERVER {

/// How a cache may serve a request.
enum class CacheUse : std::uint8_t {
  kNone,    ///< Not at all: the request bypasses the cache.
  kAlone,   ///< It may answer it, and keep its response, but not wait for another's.
  kShared,  ///< All that, and similar requests may wait for one response.
};

/// A request, as a cache sees it.
struct CacheAsk {
  /// The longest time, in seconds; a larger number means this one (RFC 9111, section 1.2.2).
  static constexpr std::int64_t kMaxSpan = 2'147'483'647;

  CacheUse use = CacheUse::kNone;          ///< How the cache may serve it.
  bool wants_new = false;                  ///< "no-cache": no kept response will do.
  bool only_if_cached = false;             ///< Only a kept response will do; otherwise 504.
  bool has_cookie = false;                 ///< The response may be personal.
  std::chrono::seconds max_age{kMaxSpan};  ///< The oldest response that will do.
  std::chrono::seconds min_fresh{0};       ///< The time that it must still stay fresh.
};

/// Returns how a cache may serve `request`: only GET and HEAD without a body, never with Range.
/// Never with Authorization, either, since it must not get another client's response.
[[nodiscard]] auto AskOf(const Request& request) -> CacheAsk;

/// True if a successful response to this method means that kept responses may now be wrong (RFC
/// 9111, section 4.4).
[[nodiscard]] auto Invalidates(Method method) noexcept -> bool;

/// Whether, and how, a response may be kept.
struct Keeping {
  /// The most names in Vary; a response with more is not kept.
  static constexpr std::size_t kMaxVaryNames = 8;

  bool allowed = false;              ///< Whether it may be kept.
  std::chrono::seconds lifetime{0};  ///< How long it is fresh, from now on; more than 0.
  std::chrono::seconds age{0};       ///< How old it already is.
  bool for_cookies = false;          ///< It may also be kept and used for requests with Cookie.
  std::vector<std::string> vary;     ///< Request fields that it varies by: lower case, in order.
};

/// Judges a response to GET.
/// @param status of the response
/// @param fields of the response
/// @param default_ttl how long it is fresh if it has no lifetime and its status allows keeping it
/// @param now the time at which it was made
[[nodiscard]] auto KeepingOf(int status, const ReplyFields& fields,
                             std::chrono::seconds default_ttl, HttpTime now) -> Keeping;

/// Appends the part that all spellings of one target share. It is the host in lower case and
/// without a default port, the path that handlers look up (Uri::Path()), and the query without
/// needless percent-encoding (RFC 3986, section 6.2.2). It contains no line end.
void AppendTargetKey(const Request& request, std::string& key);

/// Appends AppendTargetKey(), and a line with path or query as sent if a handler may see more in
/// them. An encoded '&' in a path does not separate, and a query reaches programs as it is. A
/// response to one spelling is not sent to the others, but is wrong when theirs is.
void AppendCacheKey(const Request& request, std::string& key);

/// Appends a line for each field of `names`, with its values in `request`: they find the right one
/// among a target's varying responses.
void AppendVariant(const std::vector<std::string>& names, const Request& request, std::string& key);

}  // namespace TURTLE_SERVER
