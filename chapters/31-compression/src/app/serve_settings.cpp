#include "app/serve_settings.h"

#include <limits>

#include "app/https_settings.h"
#include "app/operations_server.h"
#include "app/site_settings.h"
#include "core/cidr_set.h"
#include "core/connection.h"

namespace TURTLE_SERVER {

namespace {

constexpr std::uint64_t kMaxThreads = 1024;
constexpr std::uint64_t kMaxConnections = 10'000'000;
constexpr std::uint64_t kMaxQueue = 1'000'000;
constexpr std::uint64_t kMaxRate = 1'000'000'000;
constexpr std::uint64_t kMaxSize = std::numeric_limits<std::size_t>::max();
constexpr std::uint64_t kMaxHead = Connection::kInputLimit;  // a longer head never fits
constexpr std::uint64_t kMaxFlags = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kMaxFields = 65'534;

auto IsPlace(const std::string& text) -> bool { return !text.empty() && text != kUnixPrefix; }

void AddProcess(SettingList& list, ServeOptions& options) {
  list.Text({"user", "--user"}, "NAME", options.user,
            "user that a server started as root becomes, once it listens: a name or a number");
  list.Text({"group", "--group"}, "NAME", options.group,
            "group that comes with it, instead of the user's own");
  list.File({"pid_file", "--pid-file"}, options.pid_file,
            "file with the number of the process, while it runs");
}

void AddServer(SettingList& list, ServeOptions& options) {
  list.Folder({"http.root_path", "DIR"}, "", options.directory,
              "the files to serve; required, unless the configuration has sites");
  list.Count({"port", "--port"}, options.port, 0, 65535, "port to listen on; 0: any free one");
  list.List({"address", "--address"}, "ADDRESS,...", options.address, 1, IsPlace,
            "an address, a host name, or unix: and a path",
            "addresses or host names to listen on (0.0.0.0 is all of IPv4, :: all of IPv6), or "
            "unix:PATH for a socket in the file system");
  AddProcess(list, options);
  list.Count({"worker_processes", "--threads"}, options.threads, 1, kMaxThreads,
             "number of event loops, one thread each");
  list.Count({"task_processes", "--task-threads"}, options.task_threads, 0, kMaxThreads,
             "number of threads for slow work: reloads, and passwords of sites; 0: a loop reloads");
  list.List(
      {"proxy_protocol", "--proxy-protocol"}, "NETWORK,...", options.proxies, 0, CidrSet::IsNetwork,
      "an address or a network such as 10.0.0.0/8",
      "proxies, each of whose connections must begin with a PROXY header; its address is then "
      "the client's");
  list.Switch({"cpu_affinity", "--cpu-affinity"}, options.cpu_affinity, true, false,
              "on: each loop keeps to its own CPU");
  list.Word({"accept", "--accept"}, options.accept,
            {{"shared", Accepting::kShared},
             {"per-loop", Accepting::kPerLoop},
             {"per-cpu", Accepting::kPerCpu}},
            "shared: one loop accepts, and hands each client to the loop with the fewest; "
            "per-loop: each accepts from its own listener; per-cpu: likewise, by the CPU that "
            "receives the client's packets, with a CPU for each loop");
  list.Word({"poller", "--poller"}, options.poller,
            {{"auto", PollerKind::kAuto},
             {"epoll", PollerKind::kEpoll},
             {"io_uring", PollerKind::kIoUring},
             {"kqueue", PollerKind::kKqueue}},
            "event interface; falls back to the default if the kernel refuses it");
  list.Switch({"http.dot_files", "--dot-files"}, options.dot_files, true, false,
              "on: names that begin with a dot, such as .env, are served; off: only what is in "
              ".well-known");
  list.Folder({"http.cgi_path", "--cgi-dir"}, "DIR", options.cgi_dir,
              "programs for /cgi-bin/; without it there are none");
  list.Seconds({"timeouts.cgi", "--cgi-timeout"}, options.cgi_timeout, 1,
               "when a program that takes longer is killed");
  list.Switch({"http.compression", "--compression"}, options.compression, true, false,
              "on: text is compressed for clients that accept br, zstd or gzip");
  list.Size({"http.cache_size", "--cache-size"}, options.cache_size, 0, kMaxSize,
            "memory for cached files; 0: no cache");
  list.Word({"http.cache_check", "--cache-check"}, options.cache_check,
            {{"watch", CacheCheck::kWatch}, {"always", CacheCheck::kAlways}},
            "how changes are noticed: watch (the kernel tells) or always (look each time)");
  list.Switch({"http.response_cache", "--response-cache"}, options.response_cache, true, false,
              "on: responses of programs are kept, and sent for equal requests; also by "
              "USE_RESP_CACHE=1 in the environment");
  list.Size({"http.response_cache_size", "--response-cache-size"}, options.response_cache_size, 0,
            kMaxSize, "memory for kept responses");
  list.Seconds({"http.response_cache_time", "--response-cache-time"}, options.response_cache_time,
               0, "lifetime of kept responses that don't state one; 0: don't keep those");
  list.Seconds({"timeouts.deferred_accept", "--deferred-accept"}, options.deferred_accept, 0,
               "accept a client with its first byte, or after so long: faster for short "
               "connections, but till then silent clients are not seen; 0: at once");
  list.Seconds({"timeouts.stop", "--stop-timeout"}, options.stop_timeout, 1,
               "how long responses under way may take after SIGINT or SIGTERM");
  list.Seconds({"timeouts.drain", "--drain-time"}, options.drain_time, 0,
               "how long clients are still let in after SIGTERM, and told not to come back");
}

void AddWhoIsLetIn(SettingList& list, ServeOptions& options) {
  list.CountOrAny({"worker_connections", "--max-connections"}, options.max_connections,
                  kMaxConnections, "most clients of a loop, the next gets 503; -1: any number");
  list.CountOrAny({"max_connections_per_address", "--max-connections-per-address"},
                  options.max_connections_per_address, kMaxConnections,
                  "most connections of an address, or of a /64 of IPv6, the next gets 503; not for "
                  "the proxies of --trusted-proxies and --proxy-protocol, whose clients are not "
                  "counted; -1: any number");
  list.List({"trusted_proxies", "--trusted-proxies"}, "NETWORK,...", options.trusted_proxies, 0,
            CidrSet::IsNetwork, "an address or a network such as 10.0.0.0/8",
            "proxies whose fields Forwarded, or else X-Forwarded-For and X-Forwarded-Proto, name "
            "the client and its scheme; they must not pass a client's own Forwarded on unchanged");
  list.List({"blocks_ip", "--block"}, "NETWORK,...", options.blocked, 0, CidrSet::IsNetwork,
            "an address or a network such as 10.0.0.0/8",
            "block list: addresses, and networks such as 10.0.0.0/8 or 2001:db8::/32");
}

void AddHttp(SettingList& list, ServeOptions& options) {
  list.Size({"http.max_body_size", "--max-body"}, options.max_body, 0, kMaxSize,
            "longest request body that is accepted");
  list.Size({"http.max_head_size", "--max-head"}, options.max_head, 64, kMaxHead,
            "longest request head that is accepted");
  list.Size({"http.max_uri_size", "--max-uri"}, options.max_uri, 1, kMaxHead,
            "longest request target that is accepted");
  list.Count({"http.max_fields", "--max-fields"}, options.max_fields, 1, kMaxFields,
             "most fields of a request's head that are accepted");
  list.Seconds({"timeouts.head", "--head-timeout"}, options.head_timeout, 1,
               "how long the head of a request may take, from its first byte to its last");
  list.Seconds({"timeouts.body", "--body-timeout"}, options.body_timeout, 1,
               "how long a body may come more slowly than --min-body-rate");
  list.Seconds({"timeouts.write", "--write-timeout"}, options.write_timeout, 1,
               "how long a response may be read more slowly than --min-send-rate");
  list.Seconds({"timeouts.idle", "--idle-timeout"}, options.idle_timeout, 1,
               "how long a connection may wait for its next request");
  list.Count({"http.min_body_rate", "--min-body-rate"}, options.min_body_rate, 0, kMaxRate,
             "bytes a second that a client must send of a body; 0: any");
  list.Count({"http.min_send_rate", "--min-send-rate"}, options.min_send_rate, 0, kMaxRate,
             "bytes a second that a client must read of a response; 0: any");
}

void AddLog(SettingList& list, ServeOptions& options) {
  LogWriterOptions& writer = options.log.writer;
  list.File({"log.file", "--log-file"}, writer.file,
            "file of the log instead of stderr; -: standard output");
  list.Folder({"log.path", "--log-path"}, "DIR", options.log_path,
              "the directory of the log, when it has a base name");
  list.Text({"log.base_name", "--log-base-name"}, "NAME", options.log_base_name,
            "the log is NAME.log in the directory of --log-path");
  list.Switch({"log.ansync_started", "--log-async", "log.async_started"}, writer.by,
              WriteBy::kThread, WriteBy::kCaller,
              "on: a separate thread writes the log; off: the thread that logs");
  list.Count({"log.queue_size", "--log-queue"}, writer.queue_size, 1, kMaxQueue,
             "lines that wait for that thread");
  list.Word({"log.when_full", "--log-when-full"}, writer.when_full,
            {{"drop", WhenFull::kDrop}, {"block", WhenFull::kBlock}},
            "when the queue is full: drop the oldest lines, and count them, or block the thread "
            "that logs");
  list.Seconds({"log.flush_second", "--log-flush"}, writer.flush_interval, 1,
               "longest delay before a line is in the log file");
  list.Size({"log.roll_size", "--log-roll-size"}, writer.roll_size, 0, kMaxSize,
            "size at which a log file gets the time into its name and a new one begins; 0: never");
}

void AddAccessLog(SettingList& list, AccessLogOptions& access) {
  list.File({"access_log.file", "--access-log"}, access.file,
            "file with a line for each request; -: standard output");
  list.Word({"access_log.format", "--access-log-format"}, access.format,
            {{"combined", AccessLogFormat::kCombined}, {"json", AccessLogFormat::kJson}},
            "format of these lines");
}

auto IsPlaceOfItsOwn(const std::string& text) -> bool {
  const bool path = text.compare(0, kUnixPrefix.size(), kUnixPrefix) == 0;
  return path ? IsPlace(text) : ParseHostAndPort(text).has_value();
}

void AddOperations(SettingList& list, ServeOptions& options) {
  list.List({"operations.address", "--operations"}, "PLACE,...", options.operations, 0,
            IsPlaceOfItsOwn, "an address with a port, or unix: and a path",
            "place of /metrics, /livez, /readyz and a page of statistics, such as 127.0.0.1:9507 "
            "or unix:PATH: not for strangers; none by default");
  list.Seconds({"operations.stuck_after", "--stuck-after"}, options.stuck_after, 1,
               "/livez names a loop whose callback takes longer");
}

void AddMySql(SettingList& list, ServeOptions& options) {
  MariaDbOptions& mysql = options.mysql;
  list.Switch({"mysql.mysql_started", "--mysql"}, options.mysql_started, true, false,
              "on: start only if this database, of MariaDB or MySQL, lets us in");
  list.TextOrNone({"mysql.address", "--mysql-address"}, "ADDRESS", mysql.address,
                  "address of its server");
  list.Count({"mysql.port", "--mysql-port"}, mysql.port, 0, 65535, "its port; 0: the usual one");
  list.TextOrNone({"mysql.unix_socket", "--mysql-socket"}, "PATH", mysql.unix_socket,
                  "its socket in the file system, instead of address and port");
  list.TextOrNone({"mysql.user", "--mysql-user"}, "NAME", mysql.user, "user name for that server");
  list.Secret({"mysql.password", "--mysql-password"}, "TEXT", mysql.password,
              "password of that user; better in a file: a command line can be read by everybody");
  list.TextOrNone({"mysql.database_name", "--mysql-database"}, "NAME", mysql.database_name,
                  "name of the database on it");
  list.Count({"mysql.client_flag", "--mysql-flags"}, mysql.client_flag, 0, kMaxFlags,
             "bits of mysql_real_connect(); CLIENT_MULTI_STATEMENTS is refused");
}

}  // namespace

auto ServeSettings(ServeOptions& options) -> SettingList {
  SettingList list;
  AddServer(list, options);
  AddHttpsPorts(list, options.https);
  list.From(Reload::kAtOnce);
  AddCertificates(list, options.https);
  AddWhoIsLetIn(list, options);
  AddHttp(list, options);
  AddSites(list, options.sites);
  list.Level({"log.level", "--log-level"}, options.log.level,
             "least level that is logged; MIN_LOG_LEVEL is the same");
  list.From(Reload::kNextStart);
  AddLog(list, options);
  AddAccessLog(list, options.access_log);
  AddMySql(list, options);
  AddOperations(list, options);
  return list;
}

auto ConfigDefaults() -> ServeOptions {
  ServeOptions options;
  options.port = 4507;
  options.threads = 4;
  options.max_body = std::uint64_t{64} << 20;
  return options;
}

auto SignalsHelp() -> std::string {
  return "\nSignals:\n"
         "  SIGHUP           read the configuration (-f) and the certificates again\n"
         "  SIGUSR1          reopen the log files: logrotate(8) has renamed them\n"
         "  SIGUSR2          start the program again and hand the clients over to it\n"
         "  SIGTERM, SIGINT  stop once the responses under way are sent; again: at once\n";
}

}  // namespace TURTLE_SERVER
