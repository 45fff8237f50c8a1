// News for every listener, without gaps: event_feed [PORT]
//
//   POST /news    its text is sent to all listeners
//   GET  /news    server-sent events; a client with Last-Event-ID gets the events it has missed
//
// An id is RUN-NUMBER: each run of the program numbers its news from 1.
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <iostream>
#include <list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include <turtle/base/argument.h>
#include <turtle/base/mutex.h>
#include <turtle/core/signal_watch.h>
#include <turtle/web/event_channel.h>
#include <turtle/web/http_server.h>

using namespace turtle;

namespace {

// The last news, and the listeners. Any thread: the lock gives all of them the same order.
class Feed {
 public:
  void Publish(std::string_view text) {
    const MutexLock lock(mutex_);
    kept_.push_back({++last_, std::string(text)});
    if (kept_.size() > kKept) {
      kept_.pop_front();
    }
    // A client that reads too slowly is dropped. Its browser reconnects, with the last id it saw.
    const News& news = kept_.back();
    listeners_.remove_if([this, &news](const EventChannel& each) { return !Tell(each, news); });
  }

  // `id` comes from the client. If it is from another run, or not an id at all, the client has seen
  // nothing of this run.
  void Join(const Responder& responder, std::string_view id) {
    const MutexLock lock(mutex_);
    const std::uint64_t seen = NumberOf(id, last_);
    const EventChannel& listener = listeners_.emplace_back(responder);
    for (const News& news : kept_) {
      if (news.number > seen) {
        static_cast<void>(Tell(listener, news));  // if the client is gone, the next beat finds out
      }
    }
  }

  // Sends a comment, which no page sees, but which finds dead connections.
  void Beat() {
    const MutexLock lock(mutex_);
    listeners_.remove_if([](const auto& each) { return each.Comment() != StreamState::kOpen; });
  }

  // These responses never end by themselves, and a stopping server waits for its responses.
  void End() {
    const MutexLock lock(mutex_);
    for (const EventChannel& each : listeners_) {
      each.End();
    }
    listeners_.clear();
  }

 private:
  static constexpr std::size_t kKept = 100;

  struct News {
    std::uint64_t number;
    std::string text;
  };

  // Returns the number in an id of this run, at most `last`; 0 for anything else.
  [[nodiscard]] auto NumberOf(std::string_view id, std::uint64_t last) const -> std::uint64_t {
    if (id.substr(0, run_.size()) != run_) {
      return 0;
    }
    id.remove_prefix(run_.size());
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), number);
    return error == std::errc() && end == id.data() + id.size() && number <= last ? number : 0;
  }

  [[nodiscard]] auto Tell(const EventChannel& listener, const News& news) const -> bool {
    const std::string id = run_ + std::to_string(news.number);
    ServerEvent event;
    event.data = news.text;
    event.id = id;
    return listener.Send(event) == StreamState::kOpen;
  }

  // When the run began, in microseconds: no two runs have the same value.
  const std::string run_ = std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(
                                              std::chrono::system_clock::now().time_since_epoch())
                                              .count()) +
                           "-";
  Mutex mutex_;
  std::uint64_t last_ TURTLE_GUARDED_BY(mutex_) = 0;
  std::deque<News> kept_ TURTLE_GUARDED_BY(mutex_);
  std::list<EventChannel> listeners_ TURTLE_GUARDED_BY(mutex_);
};

}  // namespace

auto main(int argc, char** argv) -> int try {
  Feed feed;
  HttpServer server(NetAddress("127.0.0.1", argc > 1 ? ReadPort(argv[1]) : 8080));
  server.Get("/news", [&feed](const ServerRequest& req, const Responder& responder) {
    feed.Join(responder, LastEventId(req.Head().headers).value_or(""));
  });
  server.Post("/news", [&feed](const ServerRequest& req, ServerResponse& res) {
    if (req.Body().empty() || req.Body().size() > 1000) {
      throw HttpError(400, "news have 1 to 1000 bytes");
    }
    feed.Publish(req.Body());
    res.Status(204);
  });
  Looper& loop = *server.Loopers().front();
  const std::function<void()> beat = [&] {
    feed.Beat();
    loop.RunAfter(std::chrono::seconds(15), beat);
  };
  loop.RunAfter(std::chrono::seconds(15), beat);
  const SignalWatch stop(loop, {SIGINT, SIGTERM}, [&](int) {
    feed.End();
    server.Stop();
  });
  std::cout << "listening on " << server.LocalAddress().ToString() << std::endl;
  server.Begin();
  return 0;
} catch (const std::invalid_argument& error) {
  std::cerr << "event_feed: " << error.what() << '\n';
  return 2;
} catch (const std::exception& error) {
  std::cerr << "event_feed: " << error.what() << '\n';
  return 1;
}
