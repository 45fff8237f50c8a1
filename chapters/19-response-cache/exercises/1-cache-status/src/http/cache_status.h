// Writes the field Cache-Status (RFC 9211), in which a cache reports how it handled a request.
//
// Thread: pure.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace TURTLE_SERVER {

/// How one cache handled one request.
struct CacheStatus {
  std::string cache;                        ///< The name of the cache.
  bool hit = false;                         ///< The cache had the response.
  std::string forward;                      ///< Why the handler was called: "uri-miss", "stale".
  std::optional<int> forward_status;        ///< The status of the handler's response.
  std::optional<std::chrono::seconds> ttl;  ///< How long the response stays fresh.
  bool stored = false;                      ///< The handler's response was kept.
  bool collapsed = false;                   ///< The request waited for another one's response.
  std::string detail;                       ///< Anything else.
};

/// Returns the value of the field: the name of the cache and its parameters, separated by "; ".
/// @throws std::invalid_argument "detail: a byte that is not printable ASCII", or the same of
/// "cache"
[[nodiscard]] auto CacheStatusField(const CacheStatus& status) -> std::string;

}  // namespace TURTLE_SERVER
