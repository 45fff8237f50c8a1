// Whoever listens at GET /events hears what others POST to /say.
//
//   announcements PORT
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <vector>

#include "base/mutex.h"
#include "core/signal_watch.h"
#include "web/event_channel.h"
#include "web/http_server.h"

using namespace turtle;

namespace {

// Everybody who listens. Handlers run on all loops.
class Listeners {
 public:
  void Add(const EventChannel& channel) {
    const MutexLock lock(mutex_);
    channels_.push_back(channel);
  }

  void Tell(const ServerEvent& event) {
    const MutexLock lock(mutex_);
    const auto hears = [&event](const EventChannel& channel) {
      return channel.Send(event) == StreamState::kOpen;  // who doesn't read has to come again
    };
    channels_.erase(std::stable_partition(channels_.begin(), channels_.end(), hears),
                    channels_.end());
  }

  // A server that stops waits for its replies, and these have no end.
  void End() {
    const MutexLock lock(mutex_);
    for (const EventChannel& channel : channels_) {
      channel.End();
    }
    channels_.clear();
  }

 private:
  Mutex mutex_;
  std::vector<EventChannel> channels_ TURTLE_GUARDED_BY(mutex_);
};

auto Saying(std::string_view text) -> ServerEvent {
  ServerEvent event;
  event.data = text;
  return event;
}

}  // namespace

auto main(int argc, char** argv) -> int try {
  if (argc != 2) {
    std::cerr << "usage: announcements PORT\n";
    return 2;
  }
  Listeners listeners;
  HttpServer server(NetAddress("127.0.0.1", std::atoi(argv[1])));
  server.Get("/events", [&listeners](const ServerRequest&, const Responder& responder) {
    const EventChannel channel(responder);
    listeners.Add(channel);
    channel.Send(Saying("welcome"));
  });
  server.Post("/say", [&listeners](const ServerRequest& req, ServerResponse& res) {
    listeners.Tell(Saying(req.Body()));
    res.Status(204);
  });
  const SignalWatch signals(*server.Loopers().front(), {SIGINT, SIGTERM}, [&](int) {
    listeners.End();
    server.Stop();
  });
  std::cout << "listening on " << server.LocalAddress().ToString() << std::endl;
  server.Begin();
  return 0;
} catch (const std::exception& error) {
  std::cerr << "announcements: " << error.what() << '\n';
  return 1;
}
