#include "ops/operations.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <utility>

#include "base/mutex.h"
#include "http/http_error.h"
#include "http/metrics_text.h"
#include "http/mime.h"
#include "ops/dashboard_files.h"
#include "web/event_channel.h"

namespace TURTLE_SERVER {

namespace {

// All parts of the page come from here; a script injected into it would not run.
constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

void Answer(ServerResponse& res, int status, std::string_view text) {
  res.Status(status).Set("Cache-Control", "no-store").Text(text);
}

void AddPage(HttpServer& admin) {
  for (const EmbeddedFile& file : DashboardFiles()) {
    const std::string name(file.name);
    admin.Get(name == "index.html" ? "/" : "/" + name,
              [text = file.text, type = MimeType(name)](const ServerRequest&, ServerResponse& res) {
                res.Body(text, type)
                    .Set("Cache-Control", "no-store")
                    .Set("Content-Security-Policy", kPolicy)
                    .Set("X-Content-Type-Options", "nosniff");
              });
  }
}

}  // namespace

// The open pages. The first loop of their server updates them, as long as there is
// one.
class Operations::Stream : public std::enable_shared_from_this<Stream> {
 public:
  // `make` makes the data of an event, on the loop's thread or a viewer's.
  Stream(Looper& looper, const OperationsOptions& options, std::function<std::string()> make)
      : looper_(looper),
        max_(options.max_viewers),
        interval_(options.interval),
        make_(std::move(make)) {}

  // Begins a response with events, and sends the first. @return false if there are too many.
  auto Add(const Responder& responder) -> bool {
    if (Count() >= max_) {
      return false;  // before any statistics are read
    }
    const std::string text = make_();
    const MutexLock lock(mutex_);
    if (ended_ || channels_.size() >= max_) {
      return false;
    }
    channels_.emplace_back(responder).Send({text});
    if (!ticking_) {
      // False: the loop has ended, and so have its viewers.
      ticking_ = looper_.Post([self = shared_from_this()] { self->TellLater(); });
    }
    return true;
  }

  // A stopping server waits for its responses, and these would never end.
  void End() {
    const MutexLock lock(mutex_);
    ended_ = true;
    for (const EventChannel& channel : channels_) {
      channel.End();
    }
    channels_.clear();
  }

  // Returns how many viewers there are.
  [[nodiscard]] auto Count() -> std::size_t {
    const MutexLock lock(mutex_);
    DropGone();
    return channels_.size();
  }

 private:
  // Calls Tell() once the interval is over.
  void TellLater() {
    looper_.RunAfter(interval_, [self = shared_from_this()] { self->Tell(); });
  }

  // Sends an event to each viewer that has read the last one, and goes on while there are viewers.
  void Tell() {
    {
      const MutexLock lock(mutex_);
      DropGone();
      ticking_ = !channels_.empty();
      if (!ticking_) {
        return;
      }
    }
    TellLater();  // first: an exception below is no reason to stop
    const std::string text = make_();
    const MutexLock lock(mutex_);
    for (const EventChannel& channel : channels_) {
      if (channel.Stream().State() == StreamState::kOpen) {  // else its viewer reads too slowly
        channel.Send({text});
      }
    }
  }

  void DropGone() TURTLE_REQUIRES(mutex_) {
    channels_.erase(std::remove_if(channels_.begin(), channels_.end(),
                                   [](const EventChannel& channel) {
                                     return channel.Stream().State() == StreamState::kGone;
                                   }),
                    channels_.end());
  }

  Looper& looper_;
  const std::size_t max_;
  const std::chrono::milliseconds interval_;
  const std::function<std::string()> make_;
  Mutex mutex_;
  std::vector<EventChannel> channels_ TURTLE_GUARDED_BY(mutex_);
  bool ticking_ TURTLE_GUARDED_BY(mutex_) = false;
  bool ended_ TURTLE_GUARDED_BY(mutex_) = false;
};

Operations::Operations(HttpServer& server, OperationsOptions options, ClockSource clock)
    : server_(server), options_(std::move(options)), figures_(server, std::move(clock)) {}

Operations::~Operations() = default;

void Operations::AddTo(HttpServer& admin) {
  admin.Get("/metrics", [this](const ServerRequest&, ServerResponse& res) {
    res.Body(MetricsOf(figures_.Read(), About()), kMetricsTextType)
        .Set("Cache-Control", "no-store");
  });
  admin.Get("/livez", [this](const ServerRequest&, ServerResponse& res) {
    const std::string stuck = StuckLoops();
    Answer(res, stuck.empty() ? 200 : 503, stuck.empty() ? "live\n" : stuck);
  });
  admin.Get("/readyz", [this](const ServerRequest&, ServerResponse& res) {
    const Readiness readiness = GetReadiness();
    Answer(res, readiness == Readiness::kReady ? 200 : 503,
           std::string(ReadinessName(readiness)) + "\n");
  });
  stream_ = std::make_shared<Stream>(*admin.Loopers().front(), options_,
                                     [this] { return JsonOf(figures_.Read(), About()); });
  admin.Get("/events", [this](const ServerRequest&, const Responder& responder) {
    if (!stream_->Add(responder)) {
      throw HttpError(503, "Too many pages are open.");
    }
  });
  admin.Loopers().front()->AtStop([stream = stream_] { stream->End(); });
  AddPage(admin);
}

auto Operations::GetReadiness() const noexcept -> Readiness {
  return server_.IsReady() || server_.IsHandedOver() ? Readiness::kReady
         : server_.IsLeaving()                       ? Readiness::kDraining
                                                     : Readiness::kStarting;
}

auto Operations::StuckLoops() const -> std::string {
  std::string lines;
  const std::vector<LoopTimes> times = figures_.ReadTimes();
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (times[i].round > options_.stuck_after) {
      std::array<char, 80> line{};
      std::snprintf(line.data(), line.size(), "loop %zu is stuck: its round lasts for %.1f s\n", i,
                    std::chrono::duration<double>(times[i].round).count());
      lines += line.data();
    }
  }
  return lines;
}

auto Operations::Viewers() const -> std::size_t { return stream_ ? stream_->Count() : 0; }

auto Operations::About() const -> FiguresOf {
  return {options_.version, GetReadiness(), options_.stuck_after};
}

}  // namespace TURTLE_SERVER
