// The rules of a shared cache for a request and its response (RFC 9111), as pure functions.
//
// Interface:
//  * AskOf() says what a cache may do for a request.
//  * KeepingOf() says whether a response may be kept, how long it is fresh, and what it varies by.
//  * AppendCacheKey() and AppendVariant() write the key of a kept response; all keys of one target
//    begin with AppendTargetKey().
//
// The cache stands before the handlers of one server, and can't ask them whether an old reply is
// still good. So what would have to be validated first is not kept.
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
  kNone,    ///< Nothing: the cache knows nothing of it.
  kAlone,   ///< It may answer it, and keep its response; but it does not wait for another's.
  kShared,  ///< All that, and requests that are alike may wait for one reply.
};

/// A request, as a cache sees it.
struct CacheAsk {
  /// The longest time, in seconds; a larger number means this one (RFC 9111, section 1.2.2).
  static constexpr std::int64_t kMaxSpan = 2'147'483'647;

  CacheUse use = CacheUse::kNone;          ///< What is allowed.
  bool wants_new = false;                  ///< "no-cache": no kept reply will do.
  bool only_if_cached = false;             ///< Nothing but a kept one will do; else 504.
  bool has_cookie = false;                 ///< Who asks may get something of their own.
  std::chrono::seconds max_age{kMaxSpan};  ///< The oldest reply that will do.
  std::chrono::seconds min_fresh{0};       ///< It has to stay fresh for so long.
};

/// Returns how a cache may serve `request`. Only GET and HEAD without a body may be answered by a
/// cache; never with Authorization, which another client's reply must not answer, or with Range.
[[nodiscard]] auto AskOf(const Request& request) -> CacheAsk;

/// True if a successful response to this method means that kept responses may be wrong now (RFC
/// 9111, section 4.4).
[[nodiscard]] auto Invalidates(Method method) noexcept -> bool;

/// How a response may be kept.
struct Keeping {
  /// The most names in Vary; a response with more is not kept.
  static constexpr std::size_t kMaxVaryNames = 8;

  bool allowed = false;              ///< It may be kept.
  std::chrono::seconds lifetime{0};  ///< How long it is fresh, from now on; more than 0.
  std::chrono::seconds age{0};       ///< How old it is already.
  bool for_cookies = false;          ///< It may be kept of, and answer, a request with Cookie.
  std::vector<std::string> vary;     ///< Fields of the request that count: lower case, in order.
};

/// Judges a response to GET.
/// @param status of it
/// @param fields of it
/// @param default_ttl how long it is fresh if it doesn't say so and its status allows to keep it
/// @param now the time at which it was made
[[nodiscard]] auto KeepingOf(int status, const ReplyFields& fields,
                             std::chrono::seconds default_ttl, HttpTime now) -> Keeping;

/// Appends what all ways to write one target have in common. These are the host in lower case and
/// without a default port, the path that handlers look up (Uri::Path()), and the query without
/// needless percent-encoding (RFC 3986, section 6.2.2). Holds no line end.
void AppendTargetKey(const Request& request, std::string& key);

/// Appends AppendTargetKey(), and a line with path or query as they were sent where a handler may
/// see more in them. An encoded '&' in a path is not one that divides, and a query reaches programs
/// as it is. A response to one of these is not sent to the others, but is wrong when theirs is.
void AppendCacheKey(const Request& request, std::string& key);

/// Appends a line for each field of `names`, with its values in `request`: of the responses to one
/// target, one that varies is found by these.
void AppendVariant(const std::vector<std::string>& names, const Request& request, std::string& key);

}  // namespace TURTLE_SERVER
