#include "app/serve_command.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "app/hand_over.h"
#include "app/https.h"
#include "app/listening.h"
#include "app/operations_server.h"
#include "app/pid_file.h"
#include "app/privileges.h"
#include "app/serve_check.h"
#include "app/serve_parts.h"
#include "app/setting.h"
#include "app/settings_reader.h"
#include "app/succession.h"
#include "base/sigpipe_block.h"
#include "base/wipe.h"
#include "core/cidr_set.h"
#include "core/signal_watch.h"
#include "core/unix_listener.h"
#include "db/mariadb_database.h"
#include "log/log.h"
#include "log/log_writer.h"
#include "log/logging.h"
#include "ops/inherited_listeners.h"
#include "ops/service_notifier.h"
#include "sites/site_logs.h"
#include "sites/sites.h"
#include "task/task_pool.h"
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

// Ignores signals that come while none is handled, at the beginning and at the end.
void IgnoreSignals(bool hands_over) {
  std::signal(SIGCHLD, SIG_DFL);  // if inherited as ignored, the kernel would reap programs for us
  std::signal(SIGUSR1, SIG_IGN);
  std::signal(SIGHUP, SIG_IGN);
  if (hands_over) {
    std::signal(SIGUSR2, SIG_IGN);
  }
  std::signal(SIGXFSZ, SIG_IGN);  // write(2) also reports a file that may not grow, by EFBIG
  IgnoreSigpipe();                // sendfile(2) has no flag against it
}

// Flushes at once: a reader of the first line only may be gone before the second. A closed reader,
// such as the `head -1` of a predecessor's output, is no reason to end.
void Say(const std::string& lines, std::ostream& out) { out << lines << std::flush; }

auto Variable(const char* name) -> std::string {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// One run of `turtle serve`. A member uses only members above it. So they are constructed from
// top to bottom, and destroyed from bottom to top:
//  * signals first, because a watch needs the objects that it calls;
//  * the pool before the reader of settings, which its threads use;
//  * TLS before the server, whose connections use it to their end;
//  * the operations server before everything that it reports on;
//  * the pid file before listening: it is gone when another process can take the places;
//  * listening before the server: files of paths are removed while their listeners are still open;
//  * the log last: any other part may write to it until its own end.
//
// The constructor fills them in another order: what may need root comes first, then the process
// becomes another user, and only then are there threads, and files that clients may see.
class ServeRun {
 public:
  // Throws the error that keeps it from serving.
  ServeRun(const ReadyPipe& predecessor, const ServeOptions& options, const Reread& reread,
           const std::vector<std::string>& command)
      : options_(options),
        privileges_(options.user, options.group),
        inherited_(TakeListenEnvironment(), ::getpid()),
        notifier_(Variable("NOTIFY_SOCKET")),
        https_(options.https.HasTls() ? std::make_unique<Https>(options.https) : nullptr),
        server_(MakeServer()),
        listening_(inherited_, server_, options.accept == Accepting::kShared ? 1 : options.threads),
        pid_file_(options.pid_file),
        pool_(PoolOf(options)) {
    Listen();
    ListenForOperations();
    inherited_.RequireAllTaken();
    WriteNumber(predecessor);
    GiveUpRoot();
    TakeTicketKeys();
    Mount();
    LogExchanges();
    ReopenAtSignal();
    ReloadAtSignal(reread);
    ServeOperations();
    AnswerWhetherReady(predecessor);
    HandOverAtSignal(predecessor, command);
    StopAtSignal();
  }

  // Serves until a signal. Throws the error that keeps it from serving.
  void Run(std::ostream& out) {
    // Made here, where a lack of memory is a refusal. Printed by the loop itself, when it is true:
    // all resources were available.
    std::string lines = "Serving " + Subject() + " at " + listening_.Places() + "\n";
    if (beside_) {
      lines += "Operations at " + beside_->Places() + "\n";
    }
    const Task announce = [&] {
      if (replaces_) {
        pid_file_.TakeOver(::getppid());
      }
      Say(lines, out);
    };
    FirstLoop().RunAfter(Clock::duration::zero(), [&] { succession_->Tell(announce); });
    server_.Begin();
    succession_->RethrowFailure();
  }

 private:
  // A process that is to become another user opens its log as that user. Until then its lines go
  // to stderr.
  auto MakeServer() -> HttpServer {
    if (!privileges_.MustDrop()) {
      OpenLog();
    }
    return HttpServer(HttpOf(options_), ServerOf(options_, https_.get()));
  }

  // Taken in any case: they must not stay in their pipe. Without them, the predecessor's clients
  // need full handshakes.
  void TakeTicketKeys() {
    std::string keys = TakeSecret();
    if (https_ && !keys.empty() && !https_->GetTls().LoadKeys(keys)) {
      Log(LogLevel::kWarning, "hand-over: the keys of TLS tickets are in another format");
    }
    Wipe(keys);
  }

  // Opens the log, warns, and checks the database.
  void OpenLog() {
    logging_.emplace(options_.log);
    LogWarnings(options_);
    if (options_.mysql_started) {
      static_cast<void>(MariaDbDatabase(options_.mysql)->Open());  // or we stop, and say why
    }
  }

  static auto PoolOf(const ServeOptions& options) -> TaskPoolOptions {
    TaskPoolOptions tasks;
    const std::size_t least = options.sites.empty() ? 0 : 1;  // a password must not hold up a loop
    tasks.threads = std::max(options.task_threads, least);
    return tasks;
  }

  // Listens at all places of the options.
  void Listen() {
    server_.Block(CidrSet(SplitList(options_.blocked)));
    for (const std::string& place : SplitList(options_.address)) {
      if (place.compare(0, kUnixPrefix.size(), kUnixPrefix) == 0) {
        listening_.AtPath(place.substr(kUnixPrefix.size()));
      } else {
        ListenAt(place);
      }
    }
  }

  // Listens at an address or a name: without TLS, with it, or both.
  void ListenAt(const std::string& host) {
    const NetAddress address(host, options_.port);
    if (const std::string reason = WhyNotAsRoot(address, options_.user); !reason.empty()) {
      throw std::invalid_argument(reason);
    }
    if (!https_) {
      listening_.At(address);
      return;
    }
    if (options_.https.plain != PlainHttp::kOff) {
      https_->AddPlainPort(listening_.At(address));
    }
    const bool any = options_.https.port == 0;  // the same one at all addresses
    const std::uint16_t port = any ? https_->FirstTlsPort() : options_.https.port;
    https_->AddTlsPort(listening_.At(NetAddress(host, port), "https"));
  }

  void ListenForOperations() {
    if (!options_.operations.empty()) {
      operations_.emplace(server_, OperationsOptions{TURTLE_VERSION, options_.stuck_after});
      beside_.emplace(options_.operations, inherited_, *operations_);
    }
  }

  // A predecessor keeps its file until this process serves.
  void WriteNumber(const ReadyPipe& predecessor) {
    replaces_ = predecessor.IsAwaited();
    if (!replaces_) {
      pid_file_.Write();
    }
  }

  // Everything that may need root is done, and no thread or program was started.
  void GiveUpRoot() {
    if (privileges_.MustDrop()) {
      privileges_.GiveFile(options_.pid_file);  // a successor writes its own number
      for (const std::string& log : {options_.log.writer.file, options_.access_log.file}) {
        privileges_.GiveFile(DescriptorOf(log) ? "" : log);
      }
      for (const SiteOptions& site : options_.sites) {
        privileges_.GiveFile(site.access_log);
      }
      privileges_.Drop();
      OpenLog();
      WarnOfUnreadableFiles();
    }
  }

  // A reload reads the files as the user that the process is by then, and so does a successor.
  void WarnOfUnreadableFiles() const {
    std::vector<std::string> files{options_.https.client_ca};
    for (const TlsCertificate& certificate : TlsOf(options_.https).certificates) {
      files.insert(files.end(), {certificate.chain, certificate.key, certificate.ocsp});
    }
    for (const std::string& file : files) {
      if (!file.empty() && ::access(file.c_str(), R_OK) != 0) {
        Log(LogLevel::kWarning, "'" + file + "' can't be read by the user '" + options_.user +
                                    "': neither SIGHUP nor SIGUSR2 will work");
      }
    }
  }

  // Puts the redirect to TLS, if there is one, before a part of the server.
  [[nodiscard]] auto Guarded(HandlerFactory handlers) const -> HandlerFactory {
    return https_ ? https_->Guard(std::move(handlers)) : handlers;
  }

  void Mount() {
    if (!options_.sites.empty()) {
      sites_ = std::make_unique<Sites>(SitesOf(options_));
      sites_->UsePool(pool_);
    }
    server_.Mount("/", Guarded(sites_ ? SiteFilesHandler(options_, *sites_)
                                      : FilesHandler(options_, Figures())));
    if (!options_.cgi_dir.empty()) {
      HandlerFactory programs = ProgramsHandler(options_, Figures());
      server_.Mount("/cgi-bin", Guarded(sites_ ? sites_->Around(std::move(programs)) : programs));
    }
  }

  void LogExchanges() {
    access_log_ = AccessLogOf(options_);
    if (sites_) {
      site_logs_ = std::make_unique<SiteLogs>(SiteLogsOf(options_, access_log_), sites_->Table());
      server_.Observe(site_logs_->Observers());
    } else if (access_log_) {
      server_.Observe([log = access_log_, format = options_.access_log.format](Looper& looper) {
        return std::make_unique<AccessLog>(looper, log, format);
      });
    }
  }

  void ReopenAtSignal() {
    reopen_.emplace(FirstLoop(), std::vector<int>{SIGUSR1}, [this](int) {
      logging_->Reopen();
      if (access_log_) {
        access_log_->Reopen();
      }
      if (site_logs_) {
        site_logs_->Reopen();
      }
    });
  }

  void ReloadAtSignal(const Reread& reread) {
    settings_.emplace(options_, reread, server_, https_ ? &https_->GetTls() : nullptr, sites_.get(),
                      site_logs_.get(), *logging_, notifier_);
    if (reread && pool_.Threads() != 0) {
      pool_.Start();
    }
    reload_.emplace(FirstLoop(), std::vector<int>{SIGHUP}, [this](int) {
      succession_->NoteReload();
      settings_->Read(pool_);
    });
  }

  void ServeOperations() {
    if (!operations_) {
      return;
    }
    if (pool_.Threads() != 0) {
      Figures()->SetPool(pool_);
    }
    if (https_) {
      Figures()->SetHandshakes([&tls = https_->GetTls()] { return tls.Stats(); });
    }
    Figures()->AddLog("errors", [this] { return logging_->DroppedLines(); });
    if (access_log_) {
      Figures()->AddLog("access", [log = access_log_] { return log->DroppedLines(); });
    }
    if (site_logs_) {
      Figures()->AddLogs([this] { return DroppedBySites(); });
    }
    beside_->Start();  // here, where failure is still possible
  }

  // Answers probes, unless a predecessor still does.
  void AnswerWhetherReady(const ReadyPipe& predecessor) {
    if (beside_ && !predecessor.IsAwaited()) {
      beside_->Begin();  // monitors ask whether we are ready before we are
    }
  }

  void HandOverAtSignal(const ReadyPipe& predecessor, const std::vector<std::string>& command) {
    std::function<std::string()> keys;
    if (https_) {
      keys = [&tls = https_->GetTls()] { return tls.SaveKeys(); };
    }
    succession_.emplace(predecessor, server_, listening_, beside_ ? &*beside_ : nullptr, notifier_,
                        command, keys);
    if (!command.empty()) {
      hand_over_.emplace(FirstLoop(), std::vector<int>{SIGUSR2},
                         [this](int) { succession_->Begin(); });
    }
  }

  // Handles only the first one: the second ends the program, since no watch is left by then.
  void StopAtSignal() {
    stop_.emplace(FirstLoop(), std::vector<int>{SIGINT, SIGTERM}, [this](int number) {
      if (!server_.IsLeaving()) {
        notifier_.Stopping();
      }
      succession_->Abandon();
      number == SIGTERM ? server_.Drain() : server_.Stop();
      stop_.reset();
    });
  }

  // Returns the counts of the sites' own logs. Any thread.
  [[nodiscard]] auto DroppedBySites() const -> std::vector<LogNow> {
    const std::shared_ptr<const SiteLogTable> logs = site_logs_->Get();
    std::vector<LogNow> counts;
    for (const auto& [file, writer] : logs->files) {
      counts.push_back({file, writer->DroppedLines()});
    }
    return counts;
  }

  // Returns what is served, for the first line.
  [[nodiscard]] auto Subject() const -> std::string {
    const std::size_t sites = options_.sites.size();
    return sites == 0 ? options_.directory
                      : std::to_string(sites) + (sites == 1 ? " site" : " sites");
  }

  // Returns nullptr if no part needs them.
  [[nodiscard]] auto Figures() -> ServerFigures* {
    return operations_ ? &operations_->Figures() : nullptr;
  }

  [[nodiscard]] auto FirstLoop() -> Looper& { return *server_.Loopers().front(); }

  const ServeOptions& options_;
  Privileges privileges_;
  bool replaces_ = false;  // a predecessor waits
  InheritedListeners inherited_;
  const ServiceNotifier notifier_;
  std::optional<Logging> logging_;
  std::shared_ptr<LogWriter> access_log_;  // shared with each loop; nullptr: none
  std::unique_ptr<Sites> sites_;           // nullptr: the options have none
  std::unique_ptr<SiteLogs> site_logs_;    // set if sites_ is
  const std::unique_ptr<Https> https_;     // nullptr: no certificate
  HttpServer server_;
  Listening listening_;
  PidFile pid_file_;
  std::optional<Operations> operations_;
  std::optional<SignalWatch> reopen_;
  std::optional<SettingsReader> settings_;
  TaskPool pool_;
  std::optional<SignalWatch> reload_;
  std::optional<OperationsServer> beside_;
  std::optional<Succession> succession_;
  std::optional<SignalWatch> hand_over_;
  std::optional<SignalWatch> stop_;
};

}  // namespace

auto Serve(const ServeOptions& options, std::ostream& out, std::ostream& errors,
           const Reread& reread, const std::vector<std::string>& command) -> int try {
  RaiseDescriptorLimit();
  IgnoreSignals(!command.empty());
  // before there are threads and programs
  const ReadyPipe predecessor;
  try {
    ServeRun(predecessor, options, reread, command).Run(out);
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
