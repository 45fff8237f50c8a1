#include "app/serve_command.h"

#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <ostream>
#include <stdexcept>

#include "base/sigpipe_block.h"
#include "cgi/cgi.h"
#include "core/signal_watch.h"
#include "files/root_folder.h"
#include "files/static_files.h"
#include "log/log.h"
#include "log/logging.h"
#include "web/access_log.h"
#include "web/http_server.h"

namespace TURTLE_SERVER {

namespace {

// Raises the soft limit to the hard one, because every client is a descriptor. The usual soft limit
// of 1024 exists for programs that use select(2).
void RaiseDescriptorLimit() noexcept {
  constexpr rlim_t kOpenMax = 10'240;  // macOS takes no more, even if the hard limit is infinite
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  for (const rlim_t count : {limit.rlim_max, std::min(limit.rlim_max, kOpenMax)}) {
    const rlimit raised{count, limit.rlim_max};
    if (count <= limit.rlim_cur || setrlimit(RLIMIT_NOFILE, &raised) == 0) {
      return;
    }
  }  // fewer clients fit; accepting then waits
}

auto FilesOf(const ServeOptions& options) -> StaticFilesOptions {
  StaticFilesOptions files;
  files.root = options.directory;
  files.cache.max_bytes = options.cache_size / options.threads;
  files.cache.check =
      options.cache_check == CacheCheck::kAlways ? FileCheck::kAlways : FileCheck::kWatch;
  return files;
}

auto CgiOf(const ServeOptions& options) -> CgiOptions {
  CgiOptions cgi;
  cgi.directory = options.cgi_dir;
  // The programs run in their own directory, where a relative path would mean another one.
  cgi.document_root = AbsolutePath(options.directory);
  cgi.timeout = options.cgi_timeout;
  return cgi;
}

auto HttpOf(const ServeOptions& options) -> HttpOptions {
  HttpOptions http;
  http.body.max_body_bytes = options.max_body;
  http.head_timeout = options.head_timeout;
  http.body_timeout = options.body_timeout;
  http.write_timeout = options.write_timeout;
  http.idle_timeout = options.idle_timeout;
  http.min_body_rate = options.min_body_rate;
  http.min_send_rate = options.min_send_rate;
  return http;
}

// Always on its own thread: the error log has a few lines a day, this one has one for each request.
// Its errors are reported there, because other programs read this one line by line.
auto AccessLogOf(const ServeOptions& options) -> std::shared_ptr<LogWriter> {
  if (options.access_log.file.empty()) {
    return nullptr;
  }
  LogWriterOptions writer = options.log.writer;
  writer.file = options.access_log.file;
  writer.by = WriteBy::kThread;
  writer.queue_size = std::min(writer.queue_size, options.access_log.queue_size);
  writer.error_sink = Log;
  return std::make_shared<LogWriter>(writer);
}

}  // namespace

auto Serve(const ServeOptions& options, std::ostream& out, std::ostream& errors) -> int try {
  RaiseDescriptorLimit();
  std::signal(SIGCHLD, SIG_DFL);  // if inherited as ignored, the kernel would reap programs for us
  std::signal(SIGUSR1, SIG_IGN);  // while there is no log to reopen
  std::signal(SIGXFSZ, SIG_IGN);  // write(2) also reports a file that may not grow, by EFBIG
  IgnoreSigpipe();                // sendfile(2) has no flag against it
  Logging logging(options.log);
  ServerOptions threads;
  threads.threads = options.threads;
  threads.stop_timeout = options.stop_timeout;
  threads.listen.defer_accept = options.deferred_accept;
  HttpServer server(NetAddress(options.address, options.port), HttpOf(options), threads);
  server.Mount("/", [files = FilesOf(options)](Looper& looper) {
    return std::make_unique<StaticFiles>(looper, files);
  });
  if (!options.cgi_dir.empty()) {
    server.Mount("/cgi-bin", [cgi = CgiOf(options)](Looper& looper) {
      return std::make_unique<Cgi>(looper, cgi);
    });
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
  std::optional<SignalWatch> signals;
  signals.emplace(*server.Loopers().front(), std::vector<int>{SIGINT, SIGTERM}, [&](int) {
    server.Stop();
    signals.reset();
  });
  // Made here, where a lack of memory is a refusal. Printed by the loop itself, when it is true:
  // all resources were available.
  const std::string line =
      "Serving " + options.directory + " at http://" + server.LocalAddress().ToString() + "/";
  server.Loopers().front()->RunAfter(Clock::duration::zero(), [&] { out << line << std::endl; });
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
