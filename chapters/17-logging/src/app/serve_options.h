// The settings of `turtle serve`, as values.
//
// Thread: plain data.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "log/logging.h"
#include "web/access_log.h"

namespace TURTLE_SERVER {

/// How the file cache learns that a file has changed.
enum class CacheCheck : std::uint8_t {
  kWatch,  ///< The kernel reports it (inotify(7)) if it can; else as kAlways.
  kAlways  ///< stat(2) at every request.
};

/// The log of requests.
struct AccessLogOptions {
  std::string file;                                     ///< --access-log: path; empty: none.
  AccessLogFormat format = AccessLogFormat::kCombined;  ///< --access-log-format
  std::size_t queue_size = 512;  ///< Batches that may wait, at most --log-queue: about 16 MiB.
};

/// The settings of `turtle serve`; every value was checked.
struct ServeOptions {
  std::string directory = ".";           ///< DIR: an existing directory with the files to serve.
  std::string address = "127.0.0.1";     ///< --address: a host name or an address.
  std::uint16_t port = 20080;            ///< --port; 0: any free one.
  std::size_t threads = 1;               ///< --threads: loops, 1 or more. Default: one per core.
  std::string cgi_dir;                   ///< --cgi-dir: an existing directory; empty: no CGI.
  std::chrono::seconds cgi_timeout{30};  ///< --cgi-timeout: how long a program may take.
  std::uint64_t cache_size = std::uint64_t{64} << 20;  ///< --cache-size in bytes; 0: no cache.
  CacheCheck cache_check = CacheCheck::kWatch;         ///< --cache-check
  std::uint64_t max_body = std::uint64_t{16} << 20;    ///< --max-body in bytes.
  std::chrono::seconds head_timeout{10};    ///< --head-timeout: for a request's whole head.
  std::chrono::seconds body_timeout{30};    ///< --body-timeout: for a body below the least rate.
  std::chrono::seconds write_timeout{30};   ///< --write-timeout: below the least rate.
  std::chrono::seconds idle_timeout{60};    ///< --idle-timeout: between two requests.
  std::uint64_t min_body_rate = 500;        ///< --min-body-rate in bytes a second; 0: any.
  std::uint64_t min_send_rate = 500;        ///< --min-send-rate in bytes a second; 0: any.
  std::chrono::seconds deferred_accept{0};  ///< --deferred-accept; 0: accepted immediately.
  std::chrono::seconds stop_timeout{5};     ///< --stop-timeout: for responses under way.
  LoggingOptions log;                       ///< --log-…: the log of errors.
  AccessLogOptions access_log;              ///< --access-log…
};

}  // namespace TURTLE_SERVER
