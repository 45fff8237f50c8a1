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
#include <string>
#include <utility>
#include <vector>

#include "app/serve_check.h"
#include "app/serve_parts.h"
#include "app/setting.h"
#include "app/settings_reader.h"
#include "base/sigpipe_block.h"
#include "core/cidr_set.h"
#include "core/signal_watch.h"
#include "core/unix_listener.h"
#include "log/log_writer.h"
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

// Ignores signals that come while none is handled, at the beginning and at the end.
void IgnoreSignals() {
  std::signal(SIGCHLD, SIG_DFL);  // if inherited as ignored, the kernel would reap programs for us
  std::signal(SIGUSR1, SIG_IGN);
  std::signal(SIGHUP, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // write(2) also reports a file that may not grow, by EFBIG
  IgnoreSigpipe();                // sendfile(2) has no flag against it
}

// One run of `turtle serve`. A member uses only members above it. So they are constructed from
// top to bottom, filled by the constructor in the same order, and destroyed from bottom to
// top:
//  * signals first, because a watch needs the objects that it calls;
//  * paths before the server: their files are removed while their listeners are still open;
//  * the log last: any other part may write to it until its own end.
class ServeRun {
 public:
  // Throws the error that keeps it from serving.
  ServeRun(const ServeOptions& options, const Reread& reread)
      : options_(options),
        logging_(options.log),
        server_(MakeServer(options)),
        settings_(options, reread, server_, logging_) {
    Listen();
    Mount();
    LogExchanges();
    ReopenAtSignal();
    ReloadAtSignal();
    StopAtSignal();
  }

  // Serves until a signal. Throws the error that keeps it from serving.
  void Run(std::ostream& out) {
    // Made here, where a lack of memory is a refusal. Printed by the loop itself, when it is true:
    // all resources were available.
    const std::string said = "Serving " + options_.directory + " at " + places_;
    FirstLoop().RunAfter(Clock::duration::zero(), [&] { out << said << std::endl; });
    server_.Begin();
  }

 private:
  // Warns before anything else can fail.
  static auto MakeServer(const ServeOptions& options) -> HttpServer {
    LogWarnings(options);
    return HttpServer(HttpOf(options), ServerOf(options));
  }

  // Listens at all places of the options, and lists them in `places_` in the form that clients use.
  void Listen() {
    server_.Block(CidrSet(SplitList(options_.blocked)));
    for (const std::string& place : SplitList(options_.address)) {
      places_ += places_.empty() ? "" : ", ";
      if (place.compare(0, kUnixPrefix.size(), kUnixPrefix) == 0) {
        paths_.push_back(std::make_unique<UnixListener>(place.substr(kUnixPrefix.size())));
        server_.AlsoListen(paths_.back()->TakeSocket());
        places_ += place;
      } else {
        Socket listener;
        listener.Bind(NetAddress(place, options_.port));
        listener.Listen();
        places_ += "http://" + listener.LocalAddress().ToString() + "/";
        server_.AlsoListen(std::move(listener));
      }
    }
  }

  void Mount() {
    server_.Mount("/", FilesHandler(options_));
    if (!options_.cgi_dir.empty()) {
      server_.Mount("/cgi-bin", ProgramsHandler(options_));
    }
  }

  void LogExchanges() {
    access_log_ = AccessLogOf(options_);
    if (access_log_) {
      server_.Observe([log = access_log_, format = options_.access_log.format](Looper& looper) {
        return std::make_unique<AccessLog>(looper, log, format);
      });
    }
  }

  void ReopenAtSignal() {
    reopen_.emplace(FirstLoop(), std::vector<int>{SIGUSR1}, [this](int) {
      logging_.Reopen();
      if (access_log_) {
        access_log_->Reopen();
      }
    });
  }

  void ReloadAtSignal() {
    reload_.emplace(FirstLoop(), std::vector<int>{SIGHUP}, [this](int) { settings_.Read(); });
  }

  // Handles only the first one: the second ends the program, since no watch is left by then.
  void StopAtSignal() {
    stop_.emplace(FirstLoop(), std::vector<int>{SIGINT, SIGTERM}, [this](int) {
      server_.Stop();
      stop_.reset();
    });
  }

  [[nodiscard]] auto FirstLoop() -> Looper& { return *server_.Loopers().front(); }

  const ServeOptions& options_;
  Logging logging_;
  HttpServer server_;
  std::string places_;
  std::vector<std::unique_ptr<UnixListener>> paths_;  // own their files
  std::shared_ptr<LogWriter> access_log_;             // shared with each loop; nullptr: none
  std::optional<SignalWatch> reopen_;
  SettingsReader settings_;
  std::optional<SignalWatch> reload_;
  std::optional<SignalWatch> stop_;
};

}  // namespace

auto Serve(const ServeOptions& options, std::ostream& out, std::ostream& errors,
           const Reread& reread) -> int try {
  RaiseDescriptorLimit();
  IgnoreSignals();
  ServeRun(options, reread).Run(out);
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
