#include "app/serve_parts.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/setting.h"
#include "cgi/cgi.h"
#include "core/channel_refusals.h"
#include "core/cidr_set.h"
#include "core/connection.h"
#include "core/proxy_channel.h"
#include "files/root_folder.h"
#include "files/static_files.h"
#include "log/log.h"
#include "response_cache/response_cache.h"

namespace TURTLE_SERVER {

namespace {

auto FilesOf(const ServeOptions& options) -> StaticFilesOptions {
  StaticFilesOptions files;
  files.root = options.directory;
  files.dot_files = options.dot_files;
  files.cache.max_bytes = options.cache_size / options.threads;
  files.cache.check =
      options.cache_check == CacheCheck::kAlways ? FileCheck::kAlways : FileCheck::kWatch;
  return files;
}

// Another channel, if there is one, opens what follows a proxy's header.
auto ProxyChannels(const ServeOptions& options, Https::ChannelMaker own) -> Https::ChannelMaker {
  // The server keeps this function, so the log outlives the channels that use it.
  return [proxies = CidrSet(SplitList(options.proxies)), own = std::move(own),
          log = std::make_shared<ChannelRefusals>(LogLevel::kWarning, "PROXY header")](
             Connection& connection) {
    std::unique_ptr<Channel> channel = own ? own(connection) : nullptr;
    if (proxies.Contains(connection.GetPeerAddress())) {
      channel = std::make_unique<ProxyChannel>(
          std::move(channel), [refusals = log.get(), &connection](const char* reason) {
            refusals->Report(connection, reason);
          });
    }
    return channel;
  };
}

auto CgiOf(const ServeOptions& options) -> CgiOptions {
  CgiOptions cgi;
  cgi.directory = options.cgi_dir;
  // The programs run in their own directory, where a relative path would mean another one.
  cgi.document_root = options.directory.empty() ? "" : AbsolutePath(options.directory);
  cgi.timeout = options.cgi_timeout;
  return cgi;
}

// Always on its own thread: the error log has a few lines a day, this one has one for each request.
// Its errors are reported there, because other programs read this one line by line.
auto AccessWriterOf(const ServeOptions& options) -> LogWriterOptions {
  LogWriterOptions writer = options.log.writer;
  writer.file = options.access_log.file;
  writer.by = WriteBy::kThread;
  writer.queue_size = std::min(writer.queue_size, options.access_log.queue_size);
  writer.error_sink = Log;
  return writer;
}

}  // namespace

auto HttpOf(const ServeOptions& options) -> HttpOptions {
  HttpOptions http;
  http.body.max_body_bytes = options.max_body;
  http.parser = {options.max_uri, options.max_head, options.max_fields};
  http.head_timeout = options.head_timeout;
  http.body_timeout = options.body_timeout;
  http.write_timeout = options.write_timeout;
  http.idle_timeout = options.idle_timeout;
  http.min_body_rate = options.min_body_rate;
  http.min_send_rate = options.min_send_rate;
  if (options.compression) {
    http.compression = std::make_shared<const Compression>();
  }
  if (!options.trusted_proxies.empty()) {
    http.trusted_proxies = std::make_shared<const CidrSet>(SplitList(options.trusted_proxies));
  }
  return http;
}

auto ServerOf(const ServeOptions& options, Https* https) -> ServerOptions {
  ServerOptions server;
  server.threads = options.threads;
  server.stop_timeout = options.stop_timeout;
  server.drain_time = options.drain_time;
  server.listen.defer_accept = options.deferred_accept;
  server.max_connections = options.max_connections;
  server.address_limit = AddressLimitOf(options);
  server.cpu_affinity = options.cpu_affinity;
  server.accept = options.accept;
  server.poller = options.poller;
  server.channel = https == nullptr ? options.channel : https->Channels(options.channel);
  if (!options.proxies.empty()) {
    server.channel = ProxyChannels(options, std::move(server.channel));
  }
  return server;
}

auto AddressLimitOf(const ServeOptions& options) -> AddressLimit {
  std::vector<std::string> exempt = SplitList(options.trusted_proxies);
  const std::vector<std::string> others = SplitList(options.proxies);
  exempt.insert(exempt.end(), others.begin(), others.end());
  return {options.max_connections_per_address, CidrSet(exempt)};
}

auto FilesHandler(const ServeOptions& options, ServerFigures* statistics) -> HandlerFactory {
  return [files = FilesOf(options), statistics](Looper& looper) {
    auto handler = std::make_unique<StaticFiles>(looper, files);
    if (statistics != nullptr) {
      statistics->AddCache("files", looper, handler->SharedCacheStats());
    }
    return handler;
  };
}

auto SitesOf(const ServeOptions& options) -> SitesOptions {
  SitesOptions sites = options.sites;
  for (SiteOptions& site : sites) {
    for (SiteRule& rule : site.rules) {
      if (rule.max_body_bytes) {
        rule.max_body_bytes = std::min(*rule.max_body_bytes, options.max_body);
      }
    }
  }
  return sites;
}

auto SiteFilesHandler(const ServeOptions& options, Sites& sites) -> HandlerFactory {
  return sites.Files(FilesOf(options));
}

auto ProgramsHandler(const ServeOptions& options, ServerFigures* statistics) -> HandlerFactory {
  const HandlerFactory programs = [cgi = CgiOf(options)](Looper& looper) {
    return std::make_unique<Cgi>(looper, cgi);
  };
  ResponseCacheOptions cache;
  cache.max_bytes = options.response_cache_size / options.threads;
  cache.default_ttl = options.response_cache_time;
  CacheMade made;
  if (statistics != nullptr) {
    made = [statistics](Looper& looper, std::shared_ptr<const LruStats> stats) {
      statistics->AddCache("responses", looper, std::move(stats));
    };
  }
  return options.response_cache ? Cached(cache, programs, made) : programs;
}

auto AccessLogOf(const ServeOptions& options) -> std::shared_ptr<LogWriter> {
  if (options.access_log.file.empty()) {
    return nullptr;
  }
  return std::make_shared<LogWriter>(AccessWriterOf(options));
}

auto SiteLogsOf(const ServeOptions& options, std::shared_ptr<LogWriter> server) -> SiteLogOptions {
  return {options.access_log.format, AccessWriterOf(options), std::move(server)};
}

}  // namespace TURTLE_SERVER
