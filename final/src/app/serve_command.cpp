#include "app/serve_command.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
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

#include "app/hand_over.h"
#include "app/listening.h"
#include "app/operations_server.h"
#include "app/serve_check.h"
#include "app/serve_settings.h"
#include "base/sigpipe_block.h"
#include "cgi/cgi.h"
#include "core/cidr_set.h"
#include "core/inherited_listeners.h"
#include "core/service_notifier.h"
#include "core/signal_watch.h"
#include "core/unix_listener.h"
#include "db/mariadb_database.h"
#include "files/root_folder.h"
#include "files/static_files.h"
#include "log/log.h"
#include "log/logging.h"
#include "response_cache/response_cache.h"
#include "task/task_pool.h"
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

// @param figures nullptr: nobody wants them
auto FilesHandler(const ServeOptions& options, ServerFigures* figures) -> HandlerFactory {
  return [files = FilesOf(options), figures](Looper& looper) {
    auto handler = std::make_unique<StaticFiles>(looper, files);
    if (figures != nullptr) {
      figures->AddCache("files", looper, handler->SharedCacheStats());
    }
    return handler;
  };
}

// @param figures as above
auto ProgramsOf(const ServeOptions& options, ServerFigures* figures) -> HandlerFactory {
  const HandlerFactory programs = [cgi = CgiOf(options)](Looper& looper) {
    return std::make_unique<Cgi>(looper, cgi);
  };
  ResponseCacheOptions cache;
  cache.max_bytes = options.response_cache_size / options.threads;
  cache.standard_lifetime = options.response_cache_time;
  CacheMade made;
  if (figures != nullptr) {
    made = [figures](Looper& looper, std::shared_ptr<const LruStats> stats) {
      figures->AddCache("responses", looper, std::move(stats));
    };
  }
  return options.response_cache ? Cached(cache, programs, made) : programs;
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

// At once: whoever reads only the first line may have gone before there is a second, and whoever
// reads nothing, such as the `head -1` that has read a predecessor's, is no reason to end.
void Say(const std::string& lines, std::ostream& out) { out << lines << std::flush; }

auto ServerOf(const ServeOptions& options) -> ServerOptions {
  ServerOptions server;
  server.threads = options.threads;
  server.stop_timeout = options.stop_timeout;
  server.drain_time = options.drain_time;
  server.listen.defer_accept = options.deferred_accept;
  server.max_connections = options.max_connections;
  server.cpu_affinity = options.cpu_affinity;
  server.accept = options.accept;
  server.poller = options.poller;
  return server;
}

// Everywhere that the options say.
void Listen(const ServeOptions& options, Listening& listening) {
  for (const std::string& place : SplitList(options.address)) {
    if (place.compare(0, kUnixPrefix.size(), kUnixPrefix) == 0) {
      listening.AtPath(place.substr(kUnixPrefix.size()));
    } else {
      listening.At(NetAddress(place, options.port));
    }
  }
}

auto Variable(const char* name) -> std::string {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
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
  if (running.mysql.password != wanted.mysql.password) {  // which shows nothing
    Log(LogLevel::kWarning, "mysql.password is another one from the next start on");
  }
}

// Has the settings read anew at each SIGHUP. A folder may be far away, and a list of networks may
// be long, so a thread of the pool reads, if there is one; what was read counts on the first loop.
class SettingsReader {
 public:
  SettingsReader(const ServeOptions& running, const Reread& reread, HttpServer& server,
                 Logging& logging, const ServiceNotifier& notifier)
      : running_(running),
        reread_(reread),
        server_(server),
        logging_(logging),
        notifier_(notifier) {}

  // On the first loop.
  void Read(TaskPool& pool) {
    notifier_.Reloading();
    OrReady([&] {
      if (!reread_) {
        Log(LogLevel::kWarning, "SIGHUP: without a configuration (-f) there is nothing to reload");
        notifier_.Ready();
        return;
      }
      const std::uint64_t number = ++asked_;
      const auto task =
          MakeTask([this, number](const PoolTask&) { OrReady([&] { ReadOnThread(number); }); });
      if (pool.Submit(task, {Priority::kHigh}) != SubmitResult::kAccepted) {
        Take(reread_());
        notifier_.Ready();
      }
    });
  }

 private:
  void ReadOnThread(std::uint64_t number) {
    const auto line = std::make_shared<const CommandLine>(reread_());
    // False: the server has ended.
    static_cast<void>(server_.Loopers().front()->Post([this, number, line] {
      OrReady([&] {
        if (number > taken_) {  // else a later one was faster
          taken_ = number;
          Take(*line);
        }
        notifier_.Ready();
      });
    }));
  }

  // Whoever was told that settings are being read has to hear of the end, whatever it is.
  template <typename Step>
  void OrReady(const Step& step) noexcept {
    try {
      step();
    } catch (...) {
      LogException("reading the settings anew");
      notifier_.Ready();
    }
  }

  void Take(const CommandLine& line) {
    if (line.action != CommandAction::kServe) {
      LogLines(LogLevel::kError, line.text);
      Log(LogLevel::kError, "the settings stay as they were");
      return;
    }
    CidrSet blocked(
        SplitList(line.serve.blocked));  // before any other setting counts: it may throw
    server_.SetOptions(HttpOf(line.serve));
    server_.SetMaxConnections(line.serve.max_connections);
    server_.Block(std::move(blocked));
    logging_.SetLevel(line.serve.log.level);
    TellWarnings(line.serve);
    TellWhatHasToWait(running_, line.serve);
    Log(LogLevel::kInfo, "the settings were read anew");
  }

  const ServeOptions& running_;
  const Reread& reread_;
  HttpServer& server_;
  Logging& logging_;
  const ServiceNotifier& notifier_;
  std::uint64_t asked_ = 0;
  std::uint64_t taken_ = 0;
};

// What a successor is given.
auto SuccessorOf(const std::vector<std::string>& command, const HttpServer& server,
                 const Listening& listening, const OperationsServer* beside) -> HandOverOptions {
  HandOverOptions successor;
  successor.command = command;
  successor.listeners = server.ListenerFds();
  successor.names = listening.Names();
  // Whoever rotates logs, or has edited the settings, sends them to both of us.
  successor.early_signals = {SIGHUP, SIGUSR1, SIGUSR2};
  if (beside != nullptr) {
    beside->AddTo(successor);
  }
  return successor;
}

// This process between the one that served before it and the one that will. On the first loop.
class Succession {
 public:
  // @param beside may be nullptr
  Succession(const ReadyPipe& predecessor, HttpServer& server, Listening& listening,
             OperationsServer* beside, const ServiceNotifier& notifier, HandOverOptions successor)
      : predecessor_(predecessor),
        server_(server),
        listening_(listening),
        beside_(beside),
        notifier_(notifier),
        hand_over_(*server.Loopers().front(), std::move(successor),
                   [this](pid_t pid) { Leave(pid); }) {}

  // Tells those who do something because of it that it serves, as soon as all loops run. If it
  // can't get as far as that, nobody has been told, and it ends.
  // @param announce tells the reader of our output, and does not throw
  void Tell(const Task& announce) noexcept {
    try {
      if (server_.IsLeaving()) {
        return;  // whoever waits for us goes on serving
      }
      if (!IsReady()) {
        server_.Loopers().front()->RunAfter(std::chrono::milliseconds(1),
                                            [this, &announce] { Tell(announce); });
        return;
      }
    } catch (...) {
      failure_ = std::current_exception();
      server_.Stop();
      return;
    }
    // Not before: had we failed, they would be the files of who goes on serving.
    listening_.TakeFiles();
    if (beside_ != nullptr) {
      beside_->TakeFiles();
    }
    announce();
    predecessor_.IsAwaited() ? predecessor_.Tell() : notifier_.Ready();
  }

  // Throws what Tell() has met.
  void RethrowFailure() const {
    if (failure_) {
      std::rethrow_exception(failure_);
    }
  }

  // At SIGUSR2. There is one successor at most, and it has the listeners only once.
  void Begin() {
    if (hand_over_.UnderWay()) {
      Log(LogLevel::kWarning, "SIGUSR2: a hand-over is under way");
    } else if (server_.IsLeaving()) {
      Log(LogLevel::kWarning, "SIGUSR2: this process is on its way out");
    } else {
      hand_over_.Begin();
    }
  }

  // A successor that does not serve yet is not to.
  void Abandon() noexcept { hand_over_.Abandon(); }

 private:
  // Throws what keeps the other server from serving.
  auto IsReady() -> bool {
    if (!server_.IsReady()) {
      return false;
    }
    if (beside_ != nullptr) {
      beside_->Begin();  // until now a predecessor's answers were those that count
    }
    return beside_ == nullptr || beside_->IsReady();
  }

  // Another one serves: nothing may keep this one from leaving.
  void Leave(pid_t successor) noexcept {
    std::array<char, 100> text{};
    std::snprintf(text.data(), text.size(),
                  "hand-over: process %lld serves; this one finishes what it has begun",
                  static_cast<long long>(successor));
    Log(LogLevel::kInfo, text.data());
    listening_.LeaveFiles();
    notifier_.MainPid(successor);
    server_.Drain(ListenQueue::kHandedOver);
    if (beside_ != nullptr) {
      beside_->Leave();
    }
  }

  const ReadyPipe& predecessor_;
  HttpServer& server_;
  Listening& listening_;
  OperationsServer* const beside_;
  const ServiceNotifier& notifier_;
  HandOver hand_over_;
  std::exception_ptr failure_;
};

// One that comes while nobody can act on it, at the beginning and at the end, must not end us.
void IgnoreSignals(bool hands_over) {
  std::signal(SIGCHLD, SIG_DFL);  // if inherited as ignored, the kernel would reap programs for us
  std::signal(SIGUSR1, SIG_IGN);
  std::signal(SIGHUP, SIG_IGN);
  if (hands_over) {
    std::signal(SIGUSR2, SIG_IGN);
  }
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is told by write(2), too: EFBIG
  IgnoreSigpipe();                // sendfile(2) can't be told not to raise it
}

// Until the end. Throws what keeps it from that.
void ServeUntilTheEnd(const ReadyPipe& predecessor, const ServeOptions& options, std::ostream& out,
                      const Reread& reread, const std::vector<std::string>& command) {
  InheritedListeners inherited(TakeListenEnvironment(), ::getpid());
  const ServiceNotifier notifier(Variable("NOTIFY_SOCKET"));
  Logging logging(options.log);
  TellWarnings(options);
  if (options.mysql_started) {
    static_cast<void>(MariaDbDatabase(options.mysql)->Open());  // or we go, and say why
  }
  HttpServer server(HttpOf(options), ServerOf(options));
  server.Block(CidrSet(SplitList(options.blocked)));
  Listening listening(inherited, server,
                      options.accept == Accepting::kShared ? 1 : options.threads);
  Listen(options, listening);
  std::optional<Operations> operations;
  if (!options.operations.empty()) {
    operations.emplace(server, OperationsOptions{TURTLE_VERSION, options.stuck_after});
  }
  ServerFigures* const figures = operations ? &operations->Figures() : nullptr;
  server.Mount("/", FilesHandler(options, figures));
  if (!options.cgi_dir.empty()) {
    server.Mount("/cgi-bin", ProgramsOf(options, figures));
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
  SettingsReader settings(options, reread, server, logging, notifier);
  TaskPoolOptions tasks;
  tasks.threads = options.task_threads;
  TaskPool pool(tasks);
  if (reread && options.task_threads != 0) {
    pool.Start();
  }
  const SignalWatch hang_up(*server.Loopers().front(), {SIGHUP}, [&](int) { settings.Read(pool); });
  // Behind what it reads, so that it goes first.
  std::optional<OperationsServer> beside;
  if (figures != nullptr) {
    if (pool.Threads() != 0) {
      figures->SetPool(pool);
    }
    figures->AddLog("errors", [&logging] { return logging.DroppedLines(); });
    if (access_log) {
      figures->AddLog("access", [access_log] { return access_log->DroppedLines(); });
    }
    beside.emplace(options.operations, inherited, *operations);
  }
  inherited.RequireAllTaken();
  if (beside && !predecessor.IsAwaited()) {
    beside->Begin();  // it is asked whether we are ready while we are not
  }
  OperationsServer* const operations_server = beside ? &*beside : nullptr;
  Succession succession(predecessor, server, listening, operations_server, notifier,
                        SuccessorOf(command, server, listening, operations_server));
  std::optional<SignalWatch> anew;
  if (!command.empty()) {
    anew.emplace(*server.Loopers().front(), std::vector<int>{SIGUSR2},
                 [&](int) { succession.Begin(); });
  }
  std::optional<SignalWatch> signals;
  signals.emplace(*server.Loopers().front(), std::vector<int>{SIGINT, SIGTERM}, [&](int number) {
    if (!server.IsLeaving()) {
      notifier.Stopping();
    }
    succession.Abandon();
    number == SIGTERM ? server.Drain() : server.Stop();
    signals.reset();
  });
  // Made here, where a want of memory is a refusal. Said by the loop itself, so that it is true:
  // all that it takes could be had.
  std::string lines = "Serving " + options.directory + " at " + listening.Places() + "\n";
  if (beside) {
    lines += "Operations at " + beside->Places() + "\n";
  }
  const Task announce = [&] { Say(lines, out); };
  server.Loopers().front()->RunAfter(Clock::duration::zero(), [&] { succession.Tell(announce); });
  server.Begin();
  succession.RethrowFailure();
}

}  // namespace

auto Serve(const ServeOptions& options, std::ostream& out, std::ostream& errors,
           const Reread& reread, const std::vector<std::string>& command) -> int try {
  RaiseDescriptorLimit();
  IgnoreSignals(!command.empty());
  // Before there are threads and programs.
  const ReadyPipe predecessor;
  try {
    ServeUntilTheEnd(predecessor, options, out, reread, command);
    return 0;
  } catch (const std::bad_alloc&) {
    predecessor.Fail("turtle: out of memory");
    throw;
  } catch (const std::exception& error) {
    predecessor.Fail(error.what());
    throw;
  }
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
