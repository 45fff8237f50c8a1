// Limits and timeouts of a web server's clients.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "base/clock.h"
#include "compress/compression.h"
#include "core/cidr_set.h"
#include "core/min_rate.h"
#include "http/chunked.h"
#include "http/parser_limits.h"

namespace TURTLE_SERVER {

/// Limits and timeouts of an HttpServer.
struct HttpOptions {
  ParserLimits parser{};  ///< how large a request's head may be
  BodyLimits body{};      ///< how large a request's body may be
  /// How much of a body that no handler wants is read and dropped to keep the connection for the
  /// next request. A longer one costs the connection.
  std::uint64_t max_dropped_bytes = std::uint64_t{64} * 1024;
  /// How long a head may take from its first byte to its last; then 408.
  std::chrono::milliseconds head_timeout{10'000};
  /// How long a client may take to send a body without keeping min_body_rate; then 408.
  std::chrono::milliseconds body_timeout{30'000};
  /// The bytes per second of a body that a client must send in the long run (core/min_rate.h).
  std::uint64_t min_body_rate = kMinRate;
  /// How long a connection may wait for its next request.
  std::chrono::milliseconds idle_timeout{60'000};
  /// How long a client may take to read a response without keeping min_send_rate.
  std::chrono::milliseconds write_timeout{30'000};
  /// The bytes per second of a response that a client must read in the long run
  /// (core/min_rate.h).
  std::uint64_t min_send_rate = kMinRate;
  /// The proxies whose fields name the client of a request, and its scheme: Exchange::GetClient()
  /// and IsSecure(), by OriginOf(). In the requests of all others these fields mean nothing.
  /// nullptr: there are none.
  std::shared_ptr<const CidrSet> trusted_proxies{};
  /// Compresses the responses; nullptr: they are sent as they are. A handler may still decide for
  /// a single one, Exchange::KeepPlain().
  std::shared_ptr<const Compression> compression{};
};

/// Returns the same options, with timeouts short enough to be added to any time.
[[nodiscard]] inline auto Bounded(HttpOptions options) noexcept -> HttpOptions {
  options.head_timeout = Bounded(options.head_timeout);
  options.body_timeout = Bounded(options.body_timeout);
  options.idle_timeout = Bounded(options.idle_timeout);
  options.write_timeout = Bounded(options.write_timeout);
  return options;
}

}  // namespace TURTLE_SERVER
