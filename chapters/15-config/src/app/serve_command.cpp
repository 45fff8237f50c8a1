#include "app/serve_command.h"

#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "app/serve_check.h"
#include "app/serve_settings.h"
#include "base/sigpipe_block.h"
#include "cgi/cgi.h"
#include "core/cidr_set.h"
#include "core/signal_watch.h"
#include "core/unix_listener.h"
#include "files/root_folder.h"
#include "files/static_files.h"
#include "log/log.h"
#include "log/logging.h"
#include "response_cache/response_cache.h"
#include "web/access_log.h"
#include "web/http_server.h"

namespace TURTLE_SERVER {

namespace {

// Every client is a descriptor. The usual soft limit of 1024 is there for programs that use
// select(2); the hard limit is the one that was chosen for us.
void RaiseDescriptorLimit() noexcept {
  constexpr rlim_t kOpenMax = 10'240;  // macOS takes no more, even if the hard limit is infinite
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  for (const rlim_t count : {limit.rlim_max, std::min(limit.rlim_max, kOpenMax)}) {
    const rlimit raised{count, limit.rlim_max};
    if (count <= limit.rlim_cur || setrlimit(RLIMIT_NOFILE, &raised) == 0) {
      return;
    }
  }  // fewer clients fit; accepting waits then
}

auto FilesOf(const ServeOptions& options) -> StaticFilesOptions {
  StaticFilesOptions files;
  files.root = options.directory;
  files.dot_files = options.dot_files;
  files.cache.max_bytes = options.cache_size / options.threads;
  files.cache.check =
      options.cache_check == CacheCheck::kAlways ? FileCheck::kAlways : FileCheck::kWatch;
  return files;
}

auto CgiOf(const ServeOptions& options) -> CgiOptions {
  CgiOptions cgi;
  cgi.directory = options.cgi_dir;
  // The programs run in their own folder, so a relative path would mean another one to them.
  cgi.document_root = AbsolutePath(options.directory);
  cgi.timeout = options.cgi_timeout;
  // Or a body that the server accepts might fit nowhere.
  cgi.max_spooled_bytes = std::max(cgi.max_spooled_bytes, options.max_body);
  return cgi;
}

auto ProgramsOf(const ServeOptions& options) -> HandlerFactory {
  const HandlerFactory programs = [cgi = CgiOf(options)](Looper& looper) {
    return std::make_unique<Cgi>(looper, cgi);
  };
  ResponseCacheOptions cache;
  cache.max_bytes = options.response_cache_size / options.threads;
  cache.standard_lifetime = options.response_cache_time;
  return options.response_cache ? Cached(cache, programs) : programs;
}

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
  return http;
}

// Everywhere that the options say, which `places` then lists as a client has to write it.
// @return the owners of the paths in the file system
auto Listen(const ServeOptions& options, HttpServer& server, std::string& places)
    -> std::vector<std::unique_ptr<UnixListener>> {
  std::vector<std::unique_ptr<UnixListener>> paths;
  for (const std::string& place : SplitList(options.address)) {
    places += places.empty() ? "" : ", ";
    if (place.compare(0, kUnixPrefix.size(), kUnixPrefix) == 0) {
      paths.push_back(std::make_unique<UnixListener>(place.substr(kUnixPrefix.size())));
      server.AlsoListen(paths.back()->TakeSocket());
      places += place;
    } else {
      Socket listener;
      listener.Bind(NetAddress(place, options.port));
      listener.Listen();
      places += "http://" + listener.LocalAddress().ToString() + "/";
      server.AlsoListen(std::move(listener));
    }
  }
  return paths;
}

// Always by a thread of its own: the log of errors has a few lines a day, this one has one for
// each request. Its troubles are told there: other programs read this one, line by line.
auto AccessLogOf(const ServeOptions& options) -> std::shared_ptr<LogWriter> {
  if (options.access_log.file.empty()) {
    return nullptr;
  }
  LogWriterOptions writer = options.log.writer;
  writer.file = options.access_log.file;
  writer.by = WriteBy::kThread;
  writer.queue_size = std::min(writer.queue_size, options.access_log.queue_size);
  writer.troubles = Troubles::kByLog;
  return std::make_shared<LogWriter>(writer);
}

void LogLines(LogLevel level, const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    Log(level, line);
  }
}

// What is served, and was hardly meant.
void TellWarnings(const ServeOptions& options) {
  for (const std::string& warning : ServeWarnings(options)) {
    Log(LogLevel::kWarning, warning);
  }
}

// What has been read anew and counts only when the program starts again.
void TellWhatHasToWait(ServeOptions running, ServeOptions wanted) {
  const SettingList now = ServeSettings(running);
  const SettingList then = ServeSettings(wanted);
  for (std::size_t i = 0; i < now.All().size(); ++i) {
    const Setting& setting = now.All()[i];
    const std::string value = then.All()[i].show();
    if (setting.reload == Reload::kNextStart && setting.show() != value) {
      Log(LogLevel::kWarning, setting.name.key + " is '" + setting.show() +
                                  "' until the next start, and '" + value + "' from then on");
    }
  }
}

void ReadAnew(const ServeOptions& running, const Reread& reread, HttpServer& server,
              Logging& logging) {
  if (!reread) {
    Log(LogLevel::kWarning, "SIGHUP: without a configuration (-f) there is nothing to reload");
    return;
  }
  const CommandLine line = reread();
  if (line.action != CommandAction::kServe) {
    LogLines(LogLevel::kError, line.text);
    Log(LogLevel::kError, "the settings stay as they were");
    return;
  }
  CidrSet blocked(SplitList(line.serve.blocked));  // before any other setting counts: it may throw
  server.SetOptions(HttpOf(line.serve));
  server.SetMaxConnections(line.serve.max_connections);
  server.Block(std::move(blocked));
  logging.SetLevel(line.serve.log.level);
  TellWarnings(line.serve);
  TellWhatHasToWait(running, line.serve);
  Log(LogLevel::kInfo, "the settings were read anew");
}

}  // namespace

auto Serve(const ServeOptions& options, std::ostream& out, std::ostream& errors,
           const Reread& reread) -> int try {
  RaiseDescriptorLimit();
  std::signal(SIGCHLD, SIG_DFL);  // if inherited as ignored, the kernel would reap programs for us
  std::signal(SIGUSR1, SIG_IGN);  // before and after there is a log to open anew
  std::signal(SIGHUP, SIG_IGN);   // likewise; nothing to reload is no reason to end
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is told by write(2), too: EFBIG
  IgnoreSigpipe();                // sendfile(2) can't be told not to raise it
  Logging logging(options.log);
  TellWarnings(options);
  ServerOptions threads;
  threads.threads = options.threads;
  threads.stop_timeout = options.stop_timeout;
  threads.listen.defer_accept = options.deferred_accept;
  threads.max_connections = options.max_connections;
  threads.cpu_affinity = options.cpu_affinity;
  HttpServer server(HttpOf(options), threads);
  server.Block(CidrSet(SplitList(options.blocked)));
  std::string places;
  const std::vector<std::unique_ptr<UnixListener>> paths = Listen(options, server, places);
  server.Mount("/", [files = FilesOf(options)](Looper& looper) {
    return std::make_unique<StaticFiles>(looper, files);
  });
  if (!options.cgi_dir.empty()) {
    server.Mount("/cgi-bin", ProgramsOf(options));
  }
  const std::shared_ptr<LogWriter> access_log = AccessLogOf(options);
  if (access_log) {
    server.Observe([access_log, format = options.access_log.format](Looper& looper) {
      return std::make_unique<AccessLog>(looper, access_log, format);
    });
  }
  const SignalWatch reopen(*server.Loopers().front(), {SIGUSR1}, [&](int) {
    logging.Reopen();
    if (access_log) {
      access_log->Reopen();
    }
  });
  const SignalWatch hang_up(*server.Loopers().front(), {SIGHUP},
                            [&](int) { ReadAnew(options, reread, server, logging); });
  std::optional<SignalWatch> signals;
  signals.emplace(*server.Loopers().front(), std::vector<int>{SIGINT, SIGTERM}, [&](int) {
    server.Stop();
    signals.reset();
  });
  // Made here, where a want of memory is a refusal. Said by the loop itself, so that it is true:
  // all that it takes could be had.
  const std::string said = "Serving " + options.directory + " at " + places;
  server.Loopers().front()->RunAfter(Clock::duration::zero(), [&] { out << said << std::endl; });
  server.Begin();
  return 0;
} catch (const std::bad_alloc&) {
  errors << "turtle: out of memory\n";
  return 1;
} catch (const std::invalid_argument& error) {
  errors << "turtle: " << error.what() << '\n';
  return 2;  // a mistake in the settings: a retry would not help
} catch (const std::exception& error) {
  errors << "turtle: " << error.what() << '\n';
  return 1;
}

}  // namespace TURTLE_SERVER
