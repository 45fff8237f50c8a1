// The settings of `turtle serve`, as values.
//
// Thread: plain data.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "app/https_settings.h"
#include "core/engine.h"
#include "core/server_options.h"
#include "db/mariadb_database.h"
#include "http/parser_limits.h"
#include "log/logging.h"
#include "sites/site_options.h"
#include "web/access_log.h"

namespace TURTLE_SERVER {

/// The prefix of a socket's path in ServeOptions::address.
constexpr std::string_view kUnixPrefix = "unix:";

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
  std::string directory;              ///< DIR: an existing directory; empty: `sites` has some.
  std::string address = "127.0.0.1";  ///< --address: SplitList() of names, addresses, paths.
  std::uint16_t port = 20080;         ///< --port; 0: any free one.
  std::string user;                   ///< --user: name or number to become; empty: none.
  std::string group;                  ///< --group: likewise; empty: the user's own.
  std::string pid_file;               ///< --pid-file: path; empty: none.
  std::size_t threads = 1;            ///< --threads: loops, 1 or more. Default: one per core.
  std::size_t task_threads = 0;       ///< --task-threads: for slow work; 0: on a loop.
  std::size_t max_connections = 0;    ///< --max-connections of each loop; 0: any number.
  std::size_t max_connections_per_address = 0;  ///< --max-connections-per-address; 0: any number.
  std::string blocked;                          ///< --block: SplitList() of addresses and networks.
  std::string proxies;                          ///< --proxy-protocol: SplitList() of networks.
  std::string trusted_proxies;                  ///< --trusted-proxies: likewise.
  bool cpu_affinity = false;                    ///< --cpu-affinity: each loop has its own CPU.
  Accepting accept{};                           ///< --accept: which loops accept.
  PollerKind poller = PollerKind::kAuto;        ///< --poller: the interface to the kernel's events.
  HttpsOptions https;                           ///< --tls-…, --https-…, --http
  SitesOptions sites;                           ///< "sites"; empty: `directory` is the only one.
  bool dot_files = false;                ///< --dot-files: names that begin with a dot are served.
  bool compression = false;              ///< --compression: text is compressed.
  std::string cgi_dir;                   ///< --cgi-dir: an existing directory; empty: no CGI.
  std::chrono::seconds cgi_timeout{30};  ///< --cgi-timeout: how long a program may take.
  std::uint64_t cache_size = std::uint64_t{64} << 20;  ///< --cache-size in bytes; 0: no cache.
  CacheCheck cache_check = CacheCheck::kWatch;         ///< --cache-check
  bool response_cache = false;                         ///< --response-cache: of programs.
  std::uint64_t response_cache_size = std::uint64_t{64} << 20;  ///< --response-cache-size in bytes.
  std::chrono::seconds response_cache_time{10};           ///< --response-cache-time: by default.
  std::uint64_t max_body = std::uint64_t{16} << 20;       ///< --max-body in bytes.
  std::size_t max_head = ParserLimits{}.max_head_bytes;   ///< --max-head in bytes.
  std::size_t max_uri = ParserLimits{}.max_target_bytes;  ///< --max-uri in bytes.
  std::size_t max_fields = ParserLimits{}.max_fields;     ///< --max-fields
  std::chrono::seconds head_timeout{10};    ///< --head-timeout: for a request's whole head.
  std::chrono::seconds body_timeout{30};    ///< --body-timeout: for a body below the least rate.
  std::chrono::seconds write_timeout{30};   ///< --write-timeout: below the least rate.
  std::chrono::seconds idle_timeout{60};    ///< --idle-timeout: between two requests.
  std::uint64_t min_body_rate = 500;        ///< --min-body-rate in bytes a second; 0: any.
  std::uint64_t min_send_rate = 500;        ///< --min-send-rate in bytes a second; 0: any.
  std::chrono::seconds deferred_accept{0};  ///< --deferred-accept; 0: accepted immediately.
  std::chrono::seconds stop_timeout{5};     ///< --stop-timeout: for responses under way.
  std::chrono::seconds drain_time{0};       ///< --drain-time: unready, before listeners close.
  LoggingOptions log;                       ///< --log-…: the log of errors.
  std::string log_path = ".";               ///< --log-path: an existing directory.
  std::string log_base_name;    ///< --log-base-name: if set, the log is log_path/log_base_name.log.
  AccessLogOptions access_log;  ///< --access-log…
  bool mysql_started = false;   ///< --mysql: require this database.
  MariaDbOptions mysql;         ///< --mysql-…
  std::string operations;       ///< --operations: SplitList() of places; empty: none.
  std::chrono::seconds stuck_after{10};  ///< --stuck-after: how long a loop's round may take.
  /// ServerOptions::channel. No setting changes it: a program that calls Serve() may.
  decltype(ServerOptions::channel) channel{};
};

}  // namespace TURTLE_SERVER
